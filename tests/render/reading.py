"""How the readers of each format read it, as far as the tests need: what they would obey or show."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
from lxml import etree
from markdown_it import MarkdownIt

HERE = Path(__file__).parent
SCHEMA = etree.XMLSchema(etree.parse(HERE / "junit.xsd"))
REPORT = json.loads((HERE.parents[1] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(REPORT)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
COMMANDS = frozenset(
    [
        "error",
        "warning",
        "notice",
        "debug",
        "group",
        "endgroup",
        "add-mask",
        "set-output",
        "set-env",
        "save-state",
        "add-path",
        "echo",
        "add-matcher",
        "remove-matcher",
    ]
)
VOID = {"meta", "br", "img", "link", "input", "hr"}


def junit(text: str) -> Any:
    """The root element, valid by the schema, its counts checked."""
    root = etree.fromstring(text.encode())
    SCHEMA.assertValid(root)
    suite = root[0]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(attribute, "")) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
    return root


def commands(log: str) -> list[tuple[str, dict[str, str], str]]:
    """What GitHub's runner does with a step's output: name, properties and message of each command.

    Written after the parser of actions/runner: a command is `::name a=b,c=d::message` at the start of a
    line or `##[name a=b;c=d]message` anywhere in it; between stop-commands and its token nothing counts.
    """
    found, token = [], None
    for line in re.split("\r\n|\n|\r", log):
        command = _command(line, {*COMMANDS, "stop-commands", *([token] if token else [])})
        if command is None:
            continue
        if token is not None:
            token = None if command[0].casefold() == token.casefold() else token
        elif command[0] == "stop-commands":
            token = command[2]
            assert re.fullmatch("[0-9a-f]{64}", token)
        else:
            found.append(command)
    assert token is None, "the fence was left open"
    return found


def _command(line: str, names: set[str]) -> tuple[str, dict[str, str], str] | None:
    known = {name.casefold() for name in names}
    match = re.match("::(.*?)::(.*)$", line.lstrip(), re.DOTALL)
    if match is not None:
        name, _, given = match[1].partition(" ")
        if name.casefold() in known:
            pairs = (pair.split("=", 1) for pair in given.strip().split(",") if "=" in pair)
            return (
                name.casefold(),
                {key: _unescape(value) for key, value in pairs},
                _unescape(match[2]),
            )
    match = re.search(r"##\[([^\]]*)\](.*)$", line, re.DOTALL)
    if match is not None and match[1].partition(" ")[0].casefold() in known:
        return match[1].partition(" ")[0].casefold(), {}, match[2]
    return None


def _unescape(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def markdown(text: str) -> list[str]:
    """The kinds of what Markdown sees; asserts that none of them is HTML, a link or an image."""
    kinds = []
    for token in MARKDOWN.parse(text):
        kinds += [token.type, *(child.type for child in token.children or ())]
    foreign = {"html_block", "html_inline", "link_open", "image", "s_open", "em_open", "hr"}
    assert not foreign & set(kinds), foreign & set(kinds)
    return kinds


class Page(HTMLParser):
    """A page's tags in order and its text; asserts that they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)
