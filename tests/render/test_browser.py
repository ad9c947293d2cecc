"""The HTML page in a real browser: a phone and a desktop, light and dark. Needs Chromium, no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from typing import TYPE_CHECKING, Any

import pytest

from grader.render import html
from tests.render.reports import CASES

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("there is no Chromium", allow_module_level=True)

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--virtual-time-budget=2000", "--window-size=1400,900", "--dump-dom"),
)
# The page stands in frames of both widths; the page around it measures, as the page itself has no script.
MEASURE = """<!DOCTYPE html><html style="color-scheme: light dark"><body>%s<pre id="out"></pre><script>
const number = (text) => text.match(/[0-9.]+/g).map(Number);
const light = (rgb) => {
  const [r, g, b] = rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const behind = (view, element) => {
  for (; element; element = element.parentElement) {
    const colour = number(view.getComputedStyle(element).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const look = (frame) => {
  const view = frame.contentWindow, page = view.document, all = [...page.body.querySelectorAll("*")];
  const written = all.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const poor = written.map((e) => [e.className || e.tagName,
    contrast(number(view.getComputedStyle(e).color), behind(view, e))]).filter((p) => p[1] < 4.5);
  const keys = [...page.querySelectorAll("summary, a")];
  const reached = keys.filter((e) => { e.focus(); return page.activeElement === e; });
  const root = page.documentElement;
  return { width: view.innerWidth, over: root.scrollWidth - root.clientWidth, poor,
    wide: all.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
      && view.getComputedStyle(e).display !== "inline").map((e) => e.outerHTML.slice(0, 80)),
    keys: keys.length, reached: reached.length, failed: page.querySelectorAll("details.fail").length,
    background: number(view.getComputedStyle(page.body).backgroundColor), written: written.length,
    first: page.querySelector("main details")?.className ?? "" };
};
addEventListener("load", () => {
  out.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(look));
});
</script></body></html>"""


def look(folder: Path, page: str, scheme: int) -> list[dict[str, Any]]:
    """What a phone and a desktop show of a page; `scheme` is Chromium's: 0 for dark, 1 for light."""
    frame = '<iframe width="{}" height="800" srcdoc="{}"></iframe>'
    frames = "".join(frame.format(width, escape(page)) for width in (360, 1280))
    file = folder / "measure.html"
    file.write_text(MEASURE.replace("%s", frames), encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    colours = f"--blink-settings=preferredColorScheme={scheme}"
    command = [str(CHROMIUM), *FLAGS, profile, colours, file.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    found = re.search('<pre id="out">(.*?)</pre>', done.stdout.decode(), re.DOTALL)
    assert found is not None
    seen: list[dict[str, Any]] = json.loads(unescape(found[1]))
    return seen


@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
@pytest.mark.parametrize("case", CASES)
def test_page(tmp_path: Path, case: str, scheme: int) -> None:
    seen = look(tmp_path, html.render(CASES[case]()), scheme)
    assert len(seen) == 2
    for view in seen:
        assert view["written"] > 20
        assert view["over"] == 0, view
        assert view["wide"] == []
        assert view["poor"] == []
        assert view["reached"] == view["keys"] > 0 or case == "problem"
        assert (max(view["background"]) < 64) == (scheme == 0)
    assert seen[0]["failed"] == {"failing": 5}.get(case, 0)
    assert seen[0]["first"].startswith(
        {"failing": "test fail", "error": "test error"}.get(case, "")
    )
