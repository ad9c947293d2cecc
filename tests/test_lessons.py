from __future__ import annotations

import shutil
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import lessons
from grader.errors import LessonError, UnknownLessonError, UsageError

IDS = {
    7: "text_only_run one_tool_call two_calls_in_one_reply max_turns_stop provider_failure "
    "stop_after_any_event second_run_own_messages events_are_json loop_prints_nothing "
    "final_text_printed_once failed_run_says_why two_renderers_two_runs",
    9: "speak_during_a_batch steer_opens_next_turn follow_up_opens_new_turn "
    "steering_asked_only_when_valid follow_up_asked_at_the_end queued_messages_one_at_a_time "
    "queued_while_idle steers_before_follow_up prompt_refused_while_running "
    "failed_run_leaves_queue max_turns_keeps_second_steer silent_callables_change_nothing",
    10: "missing_result orphan_result late_result duplicate_result failed_reply_with_a_call "
    "results_in_call_order record_ends_on_damage valid_transcript_unchanged "
    "repair_is_idempotent record_is_untouched view_is_repaired_record_is_not "
    "walk_away_recovers failed_reply_never_runs walk_away_after_every_event",
}


@pytest.mark.parametrize("number", sorted(lessons.folders()))
def test_a_lesson_has_the_tests_of_its_page_in_order(number: int) -> None:
    lesson = lessons.find(number)
    assert [test.id for test in lesson.tests] == IDS[number].split()
    assert [test.number for test in lesson.tests] == list(range(1, len(lesson.tests) + 1))


@pytest.mark.parametrize("number", sorted(lessons.folders()))
def test_every_rule_says_all_it_has_to_and_is_tested(number: int) -> None:
    lesson = lessons.find(number)
    assert {test.rule.id for test in lesson.tests} == set(lesson.rules)
    for rule in lesson.rules.values():
        assert all((rule.text, rule.why, rule.section, rule.function))
        ids = [wrong.id for wrong in rule.wrong_answers]
        assert len(ids) == len(set(ids)) > 0
        assert all(wrong.text for wrong in rule.wrong_answers)


@pytest.mark.parametrize("number", sorted(lessons.folders()))
def test_every_wrong_answer_that_a_lesson_has_is_embodied_by_a_harness(number: int) -> None:
    lesson = lessons.find(number)
    path = Path(__file__).parent / "wrong_answers" / f"lesson_{number:02}.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["wrong"]
    shown = {entry["named"] for entry in entries if "named" in entry}
    shown |= {name for entry in entries for name in entry.get("also_named", [])}
    listed = {wrong.id for rule in lesson.rules.values() for wrong in rule.wrong_answers}
    assert sorted(listed - shown) == []


def test_an_unknown_lesson_names_those_there_are() -> None:
    with pytest.raises(UnknownLessonError) as caught:
        lessons.find(99)
    assert "10" in caught.value.help


# --- what an author is told ------------------------------------------------------------------------

TOML = """\
number = 11
title = "Echo"

[[rule]]
id = "says-it-back"
text = "It says it back."
why = "Because."
section = "1"

[[rule.wrong_answer]]
id = "silent"
text = "It says nothing."
"""
TESTS = '''\
from grader.inside.testing import rule


@rule("says-it-back")
def test_echo(play, draw, expect):
    """It says it back."""
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "lesson_11"
    folder.mkdir()
    (folder / "lesson.toml").write_text(TOML)
    (folder / "scenes.py").write_text("")
    (folder / "test_lesson_11.py").write_text(TESTS)
    return folder


def told(folder: Path) -> str:
    with pytest.raises(LessonError) as caught:
        lessons.load(folder)
    assert caught.value.help
    return caught.value.message.replace(str(folder), "")


def test_a_sound_folder(folder: Path) -> None:
    lesson = lessons.load(folder)
    (test,) = lesson.tests
    assert (test.id, test.title, test.rule.id) == ("echo", "It says it back", "says-it-back")
    assert (test.points, lesson.starter) == (1, None)
    assert lessons.find(11, [folder.parent]) == lesson


def test_a_number_in_a_folder_of_ones_own_hides_the_built_in_one(folder: Path) -> None:
    shutil.move(folder, folder.parent / "lesson_10")
    assert lessons.find(10, [folder.parent]).title == "Echo"


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("lesson.toml", "number = 11\n", "", "/lesson.toml:1: `number` is missing"),
        (
            "lesson.toml",
            "number = 11",
            'number = "11"',
            "/lesson.toml:1: `number` is missing or no",
        ),
        ("lesson.toml", 'title = "Echo"', "title = Echo", "line 2"),
        ("lesson.toml", 'why = "Because."\n', "", "/lesson.toml:5: a rule has no `why`"),
        ("lesson.toml", 'text = "It says nothing."', 'hint = "x"', "has other fields"),
        ("test_lesson_11.py", '@rule("says-it-back")\n', "", ":4: test_echo has no rule"),
        ("test_lesson_11.py", "says-it-back", "sings", ":5: test_echo names a rule 'sings'"),
        ("test_lesson_11.py", TESTS[-10:], TESTS[-10:] + TESTS, "there are two tests 'echo'"),
        ("test_lesson_11.py", "def test_echo", "def echo", ":1: there is no test in it"),
        ("test_lesson_11.py", "def test_echo(", "def test_echo(:", ":5: it is not Python"),
        ("scenes.py", "", "def x(:", "/scenes.py:1: it is not Python"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(
    folder: Path, file: str, old: str, new: str, says: str
) -> None:
    path = folder / file
    text = path.read_text()
    path.write_text(text.replace(old, new, 1))
    assert says in told(folder)


@pytest.mark.parametrize("file", ["lesson.toml", "scenes.py", "test_lesson_11.py"])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    message = told(folder)
    assert file in message or "test_*.py" in message


def test_two_test_modules_are_one_too_many(folder: Path) -> None:
    (folder / "test_more.py").write_text(TESTS)
    assert "test_lesson_11.py, test_more.py" in told(folder)


def test_a_module_that_is_not_there(folder: Path) -> None:
    (folder / "lesson.toml").write_text(TOML.replace("\n\n", '\nmodules = ["nothing"]\n\n', 1))
    assert "there is no module 'nothing'" in told(folder)


def test_a_folder_of_lessons_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        lessons.folders([tmp_path / "nowhere"])


def test_the_hash_covers_everything_a_verdict_depends_on(folder: Path) -> None:
    seen = {lessons.load(folder).sha256}
    for file in ("lesson.toml", "scenes.py", "test_lesson_11.py"):
        with (folder / file).open("a") as out:
            out.write("\n# changed\n")
        seen.add(lessons.load(folder).sha256)
    (folder / "lesson.toml").write_text(TOML.replace("\n\n", '\nmodules = ["extra"]\n\n', 1))
    for source in ("x = 1\n", "x = 2\n"):
        (folder / "extra.py").write_text(source)
        seen.add(lessons.load(folder).sha256)
    assert len(seen) == 6


def test_several_threads_can_read_lessons_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = [sorted(lessons.folders())[i % 3] for i in range(24)]
        assert [lesson.number for lesson in pool.map(lessons.find, numbers)] == numbers
