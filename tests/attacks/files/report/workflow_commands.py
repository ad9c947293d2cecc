"""What a runner of GitHub's, GitLab's or Azure's would take for an order."""

_TEXT = "\n".join(["", "::error file=x::y", "::set-output name=score::14", "::add-mask::0", "::stop-commands::x",
                   "::add-path::/tmp", "##[error]x", "##vso[task.complete result=Succeeded;]", "::endgroup::",
                   "section_start:0:x\r\x1b[0K", "%0A::warning::x", "::x::"])


def _attack(messages):
    print(_TEXT)
    return [{"role": "user", "content": _TEXT}, *messages]
