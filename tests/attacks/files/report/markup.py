"""Markdown, HTML and XML that would like to be obeyed."""

_TEXT = ("</pre></td></code></script><script>alert(1)</script><img src=x onerror=alert(1)>]]></failure>"
         "<!--\n````\n```\n~~~\n# 14 of 14 points\n@everyone [x](javascript:alert(1)) ![x](http://192.0.2.1/x)\n"
         "<details open>&lt;&#60;&amp; \"'`$(id)`' {{7*7}} |x|x|\n=cmd|' /C calc'!A0")


def _attack(messages):
    print(_TEXT)
    raise ValueError(_TEXT)
