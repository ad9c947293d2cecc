"""Chromium without a window: opens a page, plays a script in it, gives back what it wrote."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from html import escape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",  # as on a phone and on paper
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-sync",
    "--enable-logging=stderr",
    "--log-level=0",
]
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def play(page: Path, script: str = "", *, width: int = 0) -> tuple[Any, str]:
    """What `script`, the body of a function, returns beside the page; and Chromium's log.

    Without a script the page is opened as it is, and its <html> attributes are given back.

    Args:
        page: the page.
        script: what to play in it.
        width: of what the page is shown in, in pixels; a window of Chromium's can't be as narrow as a
            phone, so this is a frame in one.
    """
    with tempfile.TemporaryDirectory(prefix="lab_check-chromium-") as profile:
        opened = page
        if script:  # the page's own policy lets no other script in, so it is taken off a copy
            text = _POLICY.sub("", page.read_text(encoding="utf-8"), count=1)
            assert "Content-Security-Policy" not in text[:2000]
            top = "parent." if width else ""
            told = (
                f"<script>{{const told = {top}document.createElement('pre'); told.id = 'told';"
                f"try {{ told.textContent = JSON.stringify((() => {{ {script} }})()); }}"
                "catch (error) { told.textContent = JSON.stringify(String(error)); }"
                f"{top}document.documentElement.append(told);}}</script>"
            )
            text = text.replace("</body>", f"{told}</body>")
            if width:
                style = f"border: 0; width: {width}px; height: 800px"
                text = f'<!DOCTYPE html><iframe style="{style}" srcdoc="{escape(text)}"></iframe>'
            opened = Path(profile) / "page.html"
            opened.write_text(text, encoding="utf-8")
        command = [str(CHROMIUM), *_FLAGS, f"--user-data-dir={profile}/data"]
        done = subprocess.run(
            [*command, "--virtual-time-budget=3000", "--dump-dom", opened.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    if not script:
        return re.search(r"<html[^>]*>", done.stdout), done.stderr
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    plain = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(plain), done.stderr


def shoot(page: Path, image: Path, size: str = "1400,1000", *more: str) -> None:
    """A picture of the page."""
    with tempfile.TemporaryDirectory(prefix="lab_check-chromium-") as profile:
        command = [str(CHROMIUM), *_FLAGS, *more, f"--user-data-dir={profile}/data"]
        subprocess.run(
            [*command, f"--window-size={size}", f"--screenshot={image}", page.as_uri()],
            capture_output=True,
            timeout=120,
            check=True,
        )


def pages(page: Path) -> int:
    """How many pages it has on paper."""
    with tempfile.TemporaryDirectory(prefix="lab_check-chromium-") as profile:
        printed = Path(profile) / "page.pdf"
        command = [str(CHROMIUM), *_FLAGS, "--no-pdf-header-footer", f"--print-to-pdf={printed}"]
        subprocess.run(
            [*command, f"--user-data-dir={profile}/data", page.as_uri()],
            capture_output=True,
            timeout=120,
            check=True,
        )
        return len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
