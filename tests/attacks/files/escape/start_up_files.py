"""Files that Python reads when it starts: whoever is next would run them."""

import os
import site
import sys
import sysconfig

_places = {*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), site.USER_SITE or "",
           os.path.expanduser("~"), "/", "/opt/lab_check", "/opt/lab_check/grader", "/usr/local/lib", "/etc"}
for _place in filter(None, _places):
    for _name in ("usercustomize.py", "sitecustomize.py", "lab.py", "json.py", "x.pth", ".pythonrc", "conftest.py"):
        try:
            open(os.path.join(_place, _name), "x").close()
        except OSError:
            continue
        raise AssertionError(os.path.join(_place, _name))
