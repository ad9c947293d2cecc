"""How the HTML page looks: light, dark, narrow, wide and on paper. Contrast is checked by a test."""

from __future__ import annotations

CSS = """\
:root {
  --page: #ffffff; --card: #f5f7f9; --text: #1b1f24; --muted: #525b66; --line: #c9d1d9;
  --good: #0b6124; --bad: #a40e26; --ours: #744600; --link: #0a4a9e;
  --minus: #dcf7e2; --minus-text: #0b4519; --plus: #ffe8e6; --plus-text: #7a0619;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1116; --card: #181d24; --text: #e6eaef; --muted: #a3adb8; --line: #414a55;
    --good: #5fd377; --bad: #ff958c; --ours: #e8b94a; --link: #86c1ff;
    --minus: #12351e; --minus-text: #b2f2bb; --plus: #4a1518; --plus-text: #ffc9c4;
  }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body {
  margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 .5rem; }
p { margin: 0 0 .5rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-weight: 600; }
pre { margin: 0; font-size: .875rem; white-space: pre-wrap; tab-size: 4; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.file, .title, footer, .legend { color: var(--muted); }
.file { margin: 0; }
.pass .mark, .score.pass .word, li.pass { color: var(--good); }
.fail .mark, .score.fail .word { color: var(--bad); }
.error .mark, .score.error .word, .not_run .mark { color: var(--ours); }
li.pass code, li.pass .title { color: var(--text); }
.score { margin: .75rem 0; font-size: 1.15rem; }
.score strong { font-size: 2.25rem; line-height: 1; }
.score .word { margin-left: .5rem; font-weight: 700; }
nav { display: flex; flex-wrap: wrap; gap: .375rem; margin-bottom: 1rem; }
nav a {
  min-width: 3.25rem; padding: .375rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--card); text-align: center; text-decoration: none; font-weight: 600;
}
nav .pass { color: var(--good); }
nav .fail { color: var(--bad); border-color: currentColor; }
nav .error, nav .not_run { color: var(--ours); border-style: dashed; }
.reason, .note, .test {
  margin: 0 0 .75rem; padding: .75rem; border: 1px solid var(--line); border-left-width: .375rem;
  border-radius: .375rem; background: var(--card);
}
.reason, .test.fail { border-left-color: var(--bad); }
.reason h2 { margin-top: 0; }
.reason p { margin: .5rem 0 0; }
.note, .test.error, .test.not_run { border-left-color: var(--ours); }
summary { cursor: pointer; }
summary .mark { font-weight: 700; }
summary .title { display: block; }
.test[open] > summary { margin-bottom: .75rem; }
ul { margin: 0 0 .75rem; padding: 0; list-style: none; }
ul.plain li { padding: .25rem 0; border-bottom: 1px solid var(--line); }
dl, dd { margin: 0; }
dl p { margin: 0; }
dl > div { padding: .375rem 0; }
dt { color: var(--muted); font-size: .875rem; font-weight: 600; }
dl .legend { margin-bottom: .375rem; font-size: .875rem; }
.legend span { padding: 0 .375rem; border-radius: .25rem; }
.diff, .code { padding: .5rem; border: 1px solid var(--line); border-radius: .25rem; background: var(--page); }
.diff span { display: block; padding-left: 2ch; text-indent: -2ch; }
.minus { background: var(--minus); color: var(--minus-text); }
.plus { background: var(--plus); color: var(--plus-text); }
.hint { color: var(--muted); }
footer { margin-top: 2rem; padding-top: .5rem; border-top: 1px solid var(--line); font-size: .875rem; }
@media (max-width: 39.99rem) {
  .diff .hint { display: none; } /* carets below a line that is wrapped point nowhere */
}
@media (min-width: 40rem) {
  body { padding: 1.5rem 2rem; }
  dl > div { display: grid; grid-template-columns: 7rem 1fr; gap: .75rem; }
  dt { padding-top: .0625rem; }
}
@media print {
  :root {
    --page: #ffffff; --card: #ffffff; --text: #000000; --muted: #444444; --line: #999999;
    --good: #0b6124; --bad: #a40e26; --ours: #744600; --link: #000000;
    --minus: #eeeeee; --minus-text: #000000; --plus: #ffffff; --plus-text: #000000;
  }
  html { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
  dl > div, summary, .reason, li { break-inside: avoid; }
  .minus, .plus { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
