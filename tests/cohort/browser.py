"""Chromium without a window: opens a page, plays a script in it, gives back what it wrote."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-sync",
    "--enable-logging=stderr",
    "--log-level=0",
]
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def play(page: Path, script: str = "") -> tuple[Any, str]:
    """What `script`, the body of a function, returns beside the page; and Chromium's log.

    Without a script the page is opened as it is, and its <html> attributes are given back.
    """
    with tempfile.TemporaryDirectory(prefix="lab_check-chromium-") as profile:
        opened = page
        if script:  # the page's own policy lets no other script in, so it is taken off a copy
            text = _POLICY.sub("", page.read_text(encoding="utf-8"), count=1)
            assert "Content-Security-Policy" not in text[:2000]
            told = (
                "<script>{const told = document.createElement('pre'); told.id = 'told';"
                f"try {{ told.textContent = JSON.stringify((() => {{ {script} }})()); }}"
                "catch (error) { told.textContent = JSON.stringify(String(error)); }"
                "document.documentElement.append(told);}</script>"
            )
            opened = Path(profile) / "page.html"
            opened.write_text(text.replace("</body>", f"{told}</body>"), encoding="utf-8")
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
