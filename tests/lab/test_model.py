"""The scripted model: what it answers, what it counts, what it remembers and what it refuses."""

from typing import Any

import pytest

from grader import lab

READ = {
    "name": "read",
    "description": "Read a text file and return its contents. One call returns at most 2000 lines "
    "or 50000 bytes; use offset to read on.",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path of the file to read."},
            "offset": {"type": "integer", "description": "First line, from 1."},
            "limit": {"type": "integer", "description": "How many lines."},
        },
        "required": ["path"],
    },
}
SYSTEM = "You are a helpful assistant."


def ids(reply: dict[str, Any]) -> list[str]:
    return [block["id"] for block in reply["content"] if block["type"] == "toolCall"]


def test_the_usage_figures_of_page_7() -> None:
    files = {
        "config.py": "PORT = 9090\n",
        "backup.py": "PORT = 8080\n",
        "README.md": "The service listens on the port in config.py.\n",
    }
    model = lab.ScriptedModel(
        [
            lab.reply(
                lab.text("Two files to compare."),
                lab.call("read", {"path": "config.py"}),
                lab.call("read", {"path": "backup.py"}),
            ),
            lab.reply(
                lab.text("And the README, to see which one counts."),
                lab.call("read", {"path": "README.md"}),
            ),
            lab.say("config.py is the live one: port 9090. backup.py still says 8080."),
        ]
    )
    messages = [lab.user("Which port is live?")]
    figures = []
    for _ in range(3):
        reply = model.complete(SYSTEM, messages, [READ])
        assert list(reply) == ["role", "content", "stop_reason", "usage"]
        figures.append(reply["usage"])
        messages.append(reply)
        for block in reply["content"]:
            if block["type"] == "toolCall":
                messages.append(lab.tool_result(block, files[block["arguments"]["path"]]))
    assert figures == [
        {"input": 134, "cache_read": 0, "output": 56},
        {"input": 255, "cache_read": 134, "output": 39},
        {"input": 339, "cache_read": 255, "output": 24},
    ]


def test_ids_are_counted_by_the_model_and_never_come_twice() -> None:
    again = lab.forever(lab.reply(lab.call("step", {"n": 1}), lab.call("step", {"n": 2})))
    model = lab.ScriptedModel([lab.fail("cut off", lab.call("step", {})), again])
    answers = [model.complete(SYSTEM, [lab.user("Go.")], []) for _ in range(3)]
    assert [ids(reply) for reply in answers] == [["c1"], ["c2", "c3"], ["c4", "c5"]]
    assert ids(lab.ScriptedModel([again]).complete(SYSTEM, [lab.user("Go.")], [])) == ["c1", "c2"]


def test_an_id_of_the_script_is_kept_and_not_counted() -> None:
    step = lab.reply(lab.call("step", {}, id="y1"), lab.call("step", {}))
    assert ids(lab.ScriptedModel([step]).complete(SYSTEM, [lab.user("Go.")], [])) == ["y1", "c1"]


def test_an_answer_is_a_copy_all_the_way_down() -> None:
    step = lab.reply(lab.call("step", {"n": [1]}))
    model = lab.ScriptedModel([lab.forever(step)])
    first = model.complete(SYSTEM, [lab.user("Go.")], [])
    first["content"][0]["arguments"]["n"].append(2)
    assert model.complete(SYSTEM, [lab.user("Go.")], [])["content"][0]["arguments"] == {"n": [1]}
    assert step["content"][0]["id"] is None


def test_a_refused_request_leaves_the_script_where_it_is() -> None:
    model = lab.ScriptedModel([lab.say("Yes.")])
    asked = lab.reply(lab.call("raed", {"path": "config.py"}, id="c1"))
    refused = model.complete(SYSTEM, [lab.user("Read it."), asked, lab.user("Well?")], [])
    assert refused == {
        "role": "assistant",
        "content": [],
        "stop_reason": "error",
        "error_message": "400 invalid_request: messages[1]: toolCall c1 has no toolResult",
    }
    assert model.complete(SYSTEM, [lab.user("Hello?")], [])["content"] == [lab.text("Yes.")]
    assert [len(request.messages) for request in model.calls] == [3, 1]


def test_a_refused_request_was_never_read_so_nothing_is_cached() -> None:
    model = lab.ScriptedModel([lab.say("Yes.")])
    hello = lab.user("Hello.")
    model.complete(SYSTEM, [hello, lab.fail("503")], [])
    assert model.complete(SYSTEM, [hello], [])["usage"]["cache_read"] == 0


def test_a_scripted_failure_has_no_usage() -> None:
    reply = lab.ScriptedModel([lab.fail("503 overloaded")]).complete(SYSTEM, [lab.user("Go.")], [])
    assert reply == lab.fail("503 overloaded")


def test_a_script_that_runs_out_says_so() -> None:
    model = lab.ScriptedModel([lab.say("Once.")])
    model.complete(SYSTEM, [lab.user("Go.")], [])
    assert model.ran_out is False
    reply = model.complete(SYSTEM, [lab.user("Go.")], [])
    assert reply["stop_reason"] == "error"
    assert reply["error_message"].startswith("script exhausted: it held 1 reply")
    assert model.ran_out is True
    assert len(model.calls) == 2


def test_a_request_is_a_snapshot_of_the_very_messages() -> None:
    model = lab.ScriptedModel([lab.say("Hello.")])
    messages = [lab.user("Hi.")]
    tools = [READ]
    messages.append(model.complete(SYSTEM, messages, tools))
    tools.clear()
    assert len(model.calls[0].messages) == 1
    assert model.calls[0].messages[0] is messages[0]
    assert model.calls[0].tools == [READ]
    assert model.calls[0].system == SYSTEM


def test_what_a_function_of_the_script_can_ask_of_the_request() -> None:
    seen: list[Any] = []

    def answer(request: Any) -> dict[str, Any]:
        seen.append((request.user_text, request.last_result))
        return lab.say("Noted.")

    model = lab.ScriptedModel([answer, lab.forever(answer)])
    asked = lab.call("read", {}, id="c1")
    result = lab.tool_result(asked, "text")
    model.complete(SYSTEM, [lab.user("One."), lab.user("Two.")], [])
    record = [lab.user("One."), lab.reply(asked), result, lab.user("Two.")]
    model.complete(SYSTEM, record, [])
    assert seen == [("One.\nTwo.", None), ("One.\nTwo.", result)]
    assert seen[1][1] is result


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (["Hello."], TypeError, "script step 0 gave 'Hello.', which is no assistant message"),
        ([lab.user("Hi.")], TypeError, "no assistant message"),
        ([{"role": "assistant", "content": []}], TypeError, "without a stop_reason"),
        ([lab.forever(lab.say("a")), lab.say("b")], ValueError, "step 1 is out of reach"),
    ],
)
def test_a_script_is_checked_before_it_is_played(
    script: list[Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        lab.ScriptedModel(script)
    assert words in str(caught.value)


def test_forever_and_functions_must_give_replies() -> None:
    with pytest.raises(TypeError, match=r"forever\(\) gave"):
        lab.forever(None)  # type: ignore[arg-type]
    model = lab.ScriptedModel([lambda _: None])  # type: ignore[list-item, return-value]
    with pytest.raises(TypeError, match="a function of the script gave None"):
        model.complete(SYSTEM, [lab.user("Go.")], [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, [], []), "system is a string"),
        ((SYSTEM, "messages", []), "a transcript is a list of messages"),
        ((SYSTEM, [], None), "tools is a list of specs"),
        ((SYSTEM, [], [{"execute": print}]), "the system text and tool specs can't be sent"),
        ((SYSTEM, [{"role": "user", "content": {1}}], []), "messages[0] can't be sent"),
    ],
)
def test_what_is_no_request_is_an_exception_and_no_call(
    arguments: tuple[Any, Any, Any], words: str
) -> None:
    model = lab.ScriptedModel([lab.say("Hello.")])
    with pytest.raises(TypeError) as caught:
        model.complete(*arguments)
    assert words in str(caught.value)
    assert model.calls == []
