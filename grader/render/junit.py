"""The report as JUnit XML, which GitLab, Jenkins and most other CI systems read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from grader.render.details import as_text, cause, details, heading, moment, short, standing, title
from grader.render.escaping import clip, fit, one_line, visible

if TYPE_CHECKING:
    from grader.records import Report, TestResult
    from grader.render.details import Cause

LIMIT = 30_000_000  # bytes; GitLab takes less than 30 MB
_ATTRIBUTE = (
    500  # characters of a message in an attribute; the whole of it is in the element's text
)


def render(report: Report) -> str:
    """One suite with a case a test; pure ASCII.

    A file that can't be loaded, or a run that was cut short, is one more case that failed: a suite
    of nothing but skipped cases would pass for green.
    """
    return fit(lambda size: _document(report, size), LIMIT)


def _document(report: Report, size: int) -> str:
    suite = ET.Element("testsuite", name=title(report))
    _properties(suite, report)
    reason = cause(report)
    if reason is not None:
        _case_of_cause(suite, report, reason, size)
    for test in report.tests:
        _case(suite, report, test, size)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("time", _seconds(report.duration_s))
    suite.set("timestamp", moment(report))
    root = ET.Element("testsuites", name="lab_check", time=_seconds(report.duration_s))
    root.append(suite)
    ET.indent(root)
    body = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _properties(suite: ET.Element, report: Report) -> None:
    facts = {
        "verdict": report.verdict,
        "points": report.score.points,
        "max_points": report.score.max_points,
        "submission_sha256": report.submission.sha256 or "",
        "grader_version": report.grader.version,
        "tests_sha256": report.grader.tests_sha256,
        "runner": report.grader.runner,
        "seed": report.grader.seed,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=one_line(str(value)))


def _case(suite: ET.Element, report: Report, test: TestResult, size: int) -> None:
    case = _new_case(suite, report, short(test.id) or str(test.number), test.duration_s)
    text = f"{heading(test)}\n\n{as_text(details(test), size)}\n"
    if test.outcome == "fail":
        _add(case, "failure", test.kind or "rule", test.message, text)
    elif test.outcome == "error":
        _add(case, "error", "grader", test.message, text)
    elif test.outcome == "not_run":
        ET.SubElement(case, "skipped", message=_attribute(test.message))
    if test.stdout:
        ET.SubElement(case, "system-out").text = visible(clip(test.stdout, size))


def _case_of_cause(suite: ET.Element, report: Report, reason: Cause, size: int) -> None:
    case = _new_case(suite, report, f"({reason.name})", 0.0)
    parts = [standing(report), "", visible(clip(reason.message, size))]
    if reason.line is not None:
        parts.append(f"at {short(report.submission.name)}:{reason.line}")
    parts.append(visible(clip(reason.help, size)))
    text = "\n".join(parts).rstrip() + "\n"
    _add(case, "error" if reason.ours else "failure", reason.kind, reason.message, text)


def _new_case(suite: ET.Element, report: Report, name: str, seconds: float) -> ET.Element:
    return ET.SubElement(
        suite,
        "testcase",
        classname=f"lesson_{report.lesson.number:02}",
        name=name,
        file=short(report.submission.name),
        time=_seconds(seconds),
    )


def _add(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, tag, type=kind, message=_attribute(message)).text = text


def _attribute(text: str) -> str:
    return clip(one_line(text), _ATTRIBUTE).replace("\n", " ")


def _seconds(value: float) -> str:
    return f"{abs(max(value, 0.0)):.3f}"  # abs: of -0.0, too
