// The cohort's page: sort, filter, search, open a report. Names and outputs only ever become text nodes.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const body = $("#map tbody");
  const rows = Array.from(body.rows);
  const head = $("#map thead");
  const dialog = $("#report");
  const cohort = JSON.parse($("#cohort").textContent);
  const rules = new Map(cohort.rules.map((rule) => [rule.id, rule]));
  const RANK = { p: 0, f: 1, n: 2, e: 3 };
  let sorted = { column: -1, down: false };

  // --- a small way to build elements: text is always text
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // --- sort
  function keyOf(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.sort !== undefined) {
      const number = Number(cell.dataset.sort);
      return Number.isNaN(number) ? cell.dataset.sort : number;
    }
    const kind = RANK[cell.className[0]];
    return kind === undefined ? cell.textContent.toLocaleLowerCase() : kind;
  }
  function sortBy(column) {
    const down = sorted.column === column ? !sorted.down : false;
    sorted = { column, down };
    const keyed = rows.map((row) => [keyOf(row, column), row]);
    keyed.sort(([a], [b]) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
    if (down) keyed.reverse();
    body.append(...keyed.map(([, row]) => row));
    for (const th of head.rows[0].cells) th.removeAttribute("aria-sort");
    head.rows[0].cells[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  head.addEventListener("click", (event) => {
    const th = event.target.closest("th");
    if (event.target.closest("button")) sortBy(th.cellIndex);
  });

  // --- filter and search
  const search = $("#search");
  const filter = $("#filter");
  const missed = $("#missed");
  function fits(row) {
    const words = search.value.normalize("NFC").toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const text = row.dataset.find;
    if (!words.every((word) => text.includes(word))) return false;
    if (filter.value && !row.dataset.is.split(" ").includes(filter.value)) return false;
    return !missed.value || row.cells[Number(missed.value)].classList.contains("f");
  }
  function refresh() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      shown += !row.hidden;
    }
    $("#shown").textContent = `${shown} of ${rows.length} shown`;
  }
  for (const control of [search, filter, missed]) control.addEventListener("input", refresh);
  $("#density").addEventListener("click", () => $("#map").classList.toggle("dense"));

  // --- a student's report
  const visible = () => Array.from(body.rows).filter((row) => !row.hidden);
  function field(list, label, value, asCode) {
    if (value === null || value === undefined || value === "" || value.length === 0) return;
    const text = Array.isArray(value) ? value.join("\n") : String(value);
    list.append(make("dt", { class: "faint" }, label), make("dd", {}, asCode ? make("pre", {}, text) : text));
  }
  function section(test) {
    const words = { fail: ["bad", "failed"], error: ["ours", "no verdict"], not_run: ["faint", "not run"] };
    const [kind, word] = words[test.outcome];
    const about = cohort.tests[test.at];
    const rule = rules.get(about.rule);
    const part = make("section", {}, make("h3", { class: kind }, `${about.number} ${about.id}: ${word}`));
    part.append(make("p", { class: "faint" }, about.title));
    const list = make("dl");
    if (test.outcome === "fail") field(list, "rule", `${rule.text} (${rule.section})`);
    field(list, "given", test.given);
    const lead = `Given ${test.given}: `;
    field(list, "happened", test.given && test.message.startsWith(lead) ? test.message.slice(lead.length) : test.message);
    if (test.diff) field(list, "difference", test.diff, true);
    else {
      field(list, "expected", test.expected, true);
      field(list, "observed", test.observed, true);
    }
    field(list, "code", test.traceback.length ? test.traceback : test.location && `harness.py, from line ${test.location.line}`, test.traceback.length > 0);
    field(list, "printed", test.stdout, true);
    if (test.wrong_answer) field(list, "looks like", `${test.wrong_answer.id}: ${test.wrong_answer.text}`);
    field(list, "look at", test.hint);
    field(list, "replay", test.replay, true);
    part.append(list);
    return part;
  }
  function open(number) {
    const row = rows.find((one) => one.dataset.row === String(number));
    if (!row) return;
    const { student, report } = JSON.parse(document.getElementById(`r${number}`).textContent);
    const inside = $("#inside");
    inside.replaceChildren();
    $("#who").textContent = student.name ? `${student.name} (${student.student})` : student.student;
    const list = make("dl");
    const points = student.points === null ? "none" : `${student.points} of ${student.max_points}`;
    field(list, "points", points);
    for (const one of student.overrides) {
      field(list, "override", `${one.test ?? "whole score"}: ${one.points} points. ${one.reason} (${one.who}, ${one.when}); graded: ${student.graded_points ?? "none"}`);
    }
    field(list, "file", student.attempts > 1 ? `${student.file}, try ${student.attempt} of ${student.attempts}` : student.file);
    field(list, "with", student.group.join(", "));
    field(list, "notes", student.notes, false);
    inside.append(list);
    if (report && report.problem) {
      inside.append(make("section", {}, make("h3", { class: "bad" }, "No test could be run."), make("pre", {}, report.problem.message), make("p", {}, report.problem.help)));
    }
    if (report) {
      const passed = report.tests.filter((test) => test.outcome === "pass").map((test) => cohort.tests[test.at].id);
      if (passed.length) inside.append(make("p", { class: "good" }, `passed: ${passed.join(", ")}`));
      if (!report.problem) inside.append(...report.tests.filter((test) => test.outcome !== "pass").map(section));
      inside.append(make("p", { class: "faint" }, `The whole report: ${student.report}`));
    } else inside.append(make("p", {}, student.status === "missing" ? "Nothing was handed in." : "There is no report."));
    dialog.dataset.row = number;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    history.replaceState(null, "", `#student-${number}`);
  }
  function step(by) {
    const shown = visible();
    const at = shown.findIndex((row) => row.dataset.row === dialog.dataset.row);
    const next = shown[at + by];
    if (next) open(Number(next.dataset.row));
  }
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) open(Number(row.dataset.row));
  });
  $("#close").addEventListener("click", () => dialog.close());
  $("#next").addEventListener("click", () => step(1));
  $("#previous").addEventListener("click", () => step(-1));
  dialog.addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search);
    const row = rows.find((one) => one.dataset.row === dialog.dataset.row);
    if (row) $("button", row).focus();
  });
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (dialog.open) {
      if (event.key === "ArrowRight") step(1);
      if (event.key === "ArrowLeft") step(-1);
      return;
    }
    if (event.key === "/" && !typing) {
      event.preventDefault();
      search.focus();
    }
    const row = event.target.closest && event.target.closest("#map tbody tr");
    if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const shown = visible();
      const next = shown[shown.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        event.preventDefault();
        $("button", next).focus();
      }
    }
  });
  for (const link of document.querySelectorAll("[data-open]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(Number(link.dataset.open));
    });
  }

  // --- like files, side by side
  for (const group of document.querySelectorAll(".alike")) {
    const show = (select) => {
      const source = document.getElementById(select.value);
      $(`pre[data-side="${select.dataset.side}"]`, group).textContent = source ? JSON.parse(source.textContent) : "";
    };
    for (const select of group.querySelectorAll("select")) {
      select.addEventListener("input", () => show(select));
      group.addEventListener("toggle", () => show(select));
    }
  }

  refresh();
  const asked = /^#student-(\d+)$/.exec(location.hash);
  if (asked) open(Number(asked[1]));
  document.documentElement.dataset.ready = "yes";
})();
