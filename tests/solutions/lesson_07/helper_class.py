import itertools
import json  # new in lesson 7

# == 1 messages ==
# What was said, as a list of dicts. "role" tells who said it: user, assistant or toolResult.

SYSTEM = "You are a helpful assistant."  # goes out with every request, never on the record


def user_message(text):
    """Wrap the user's words. A user message holds them as one string."""
    return {"role": "user", "content": text}


def text_of(message):
    """Everything an assistant message says in words, run together; calls are passed over."""
    words = ""
    for block in message["content"]:
        if block["type"] == "text":
            words += block["text"]
    return words


def tool_calls(message):
    """The calls in an assistant message, first asked first. `content` is their only home, so they
    are looked up there each time."""
    calls = []
    for block in message["content"]:
        if block["type"] == "toolCall":
            calls.append(block)
    return calls


def error_message(text):
    """The assistant message that stands for a run cut short. Nobody said anything, so `content` is
    empty; why it ended is in `error_message`. It is recorded like a reply; nothing is raised."""
    message = {"role": "assistant", "content": []}
    message.update(stop_reason="error", error_message=text)
    return message


# == 2 tools ==
# Each tool is a dict of four keys. The model hears of "name", "description" and "parameters". The
# fourth, "execute", is ours: a function that takes the arguments and returns a string.


def str_arg(arguments, name):
    """Look up an argument that has to be a string. A schema is a request, not a guarantee, so no
    tool trusts what it was sent. ValueError("<name> must be a string") if it is anything else, or
    missing."""
    if isinstance(arguments.get(name), str):
        return arguments[name]
    raise ValueError(f"{name} must be a string")


def int_arg(arguments, name, default):
    """Look up an argument that may be left out, in which case it is `default`. If it is there it
    has to be a whole number: otherwise ValueError("<name> must be an integer")."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, int):
        return value
    raise ValueError(f"{name} must be an integer")


def tool_specs(tools):
    """The tools as the model gets to see them, with the function left at home."""
    advertised = ("name", "description", "parameters")
    return [{key: tool[key] for key in advertised} for tool in tools]


def run_tool(tools, call):
    """Answer one call with one toolResult, come what may.

    A tool that can't do its job raises, and a name may belong to no tool at all. Both turn into a
    result with is_error set, so that the model can read what went wrong and try something else.
    Nothing derived from Exception gets out of here."""
    result = {"role": "toolResult", "tool_call_id": call["id"], "tool_name": call["name"]}
    named = [tool for tool in tools if tool["name"] == call["name"]]
    if not named:
        return {**result, "content": f"Tool {call['name']} not found", "is_error": True}
    try:
        output = named[-1]["execute"](call["arguments"])
    except Exception as problem:
        return {**result, "content": str(problem), "is_error": True}
    return {**result, "content": output, "is_error": False}


# How much one result may hold. It stays in the conversation, and every later request pays for it
# again. The second figure counts UTF-8 bytes, of which one character can need several.
MAX_LINES = 2000
MAX_BYTES = 50_000


def _fitting(lines, max_lines, max_bytes):
    """How many of these lines, taken from the first on, stay inside both limits."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode())
        if count == max_lines or size > max_bytes:
            return count
    return len(lines)


def truncate_head(text, max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """Cut `text` to what fits, from the front: (what is left, its number of lines). Made for files.
    A line is kept with its newline or not at all, so a first line that is too long gives ("",
    0)."""
    lines = text.splitlines(keepends=True)
    fitting = _fitting(lines, max_lines, max_bytes)
    return "".join(lines[:fitting]), fitting


def truncate_tail(text, max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """Cut `text` to what fits, from the back: (what is left, its number of lines). Made for what a
    command printed, where the part that matters stands at the bottom."""
    lines = text.splitlines(keepends=True)
    fitting = _fitting(lines[::-1], max_lines, max_bytes)
    return "".join(lines[len(lines) - fitting:]), fitting


def make_read_tool(ws, max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """A `read` tool for the files of `ws`. What doesn't fit one result is left out, and a closing
    line tells the model from where to go on."""

    def execute(arguments):
        path = str_arg(arguments, "path")
        offset = int_arg(arguments, "offset", 1)
        limit = int_arg(arguments, "limit", None)
        if offset < 1 or (limit is not None and limit < 1):
            raise ValueError("offset and limit must be 1 or more")
        if not ws.exists(path):
            names = ", ".join(ws.listdir("."))
            raise FileNotFoundError(f"File not found: {path}. Files here: {names}")

        lines = ws.read_text(path).splitlines(keepends=True)
        total = len(lines)
        if offset > max(total, 1):  # an empty file may be read from line 1
            raise ValueError(f"offset {offset} is past the end of {path}: {total} lines")
        end = total if limit is None else offset - 1 + limit
        wanted = lines[offset - 1:end]
        output, shown = truncate_head("".join(wanted), max_lines, max_bytes)
        if wanted and not shown:
            skip = f" Use offset={offset + 1} to skip it." if offset < total else ""
            size = len(wanted[0].encode())
            return (f"[Line {offset} of {path} is {size} bytes, over the {max_bytes}-byte budget "
                    f"of one read, so none of it is shown.{skip}]")
        last = offset + shown - 1
        if last >= total:
            return output
        where = f"lines {offset}-{last} of {total}"
        return f"{output}[Showing {where}. Use offset={last + 1} to continue.]"

    properties = {
        "path": {"type": "string", "description": "Path of the file to read."},
        "offset": {"type": "integer", "description": "First line, from 1."},
        "limit": {"type": "integer", "description": "How many lines."},
    }
    return {
        "name": "read",
        "description": "Read a text file and return its contents. One call returns at most "
                       f"{max_lines} lines or {max_bytes} bytes; use offset to read on.",
        "parameters": {"type": "object", "properties": properties, "required": ["path"]},
        "execute": execute,
    }


def make_write_tool(ws):
    """A `write` tool for the files of `ws`: the text it is given is the whole file afterwards."""

    def execute(arguments):
        path = str_arg(arguments, "path")
        ws.write_text(path, str_arg(arguments, "content"))
        return f"Successfully wrote to {path}."

    properties = {
        "path": {"type": "string", "description": "Path of the file to write."},
        "content": {"type": "string", "description": "The new contents."},
    }
    return {
        "name": "write",
        "description": "Write a text file. Creates the file, or replaces its whole contents.",
        "parameters": {"type": "object", "properties": properties, "required": ["path", "content"]},
        "execute": execute,
    }


def make_bash_tool(shell, max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """A `bash` tool that hands a command line to `shell`. An exit status other than 0 is no failure
    of the tool: the command did run, and its status is told in the last line of the result."""

    def execute(arguments):
        printed, status = shell.run(str_arg(arguments, "command"))
        output, shown = truncate_tail(printed, max_lines, max_bytes)
        total = len(printed.splitlines())
        if shown < total:
            output += f"\n[Showing the last {shown} of {total} lines. Narrow the command for more.]"
        return output if status == 0 else f"{output}\nCommand exited with code {status}"

    properties = {"command": {"type": "string", "description": "The command line."}}
    return {
        "name": "bash",
        "description": "Run a shell command and return its output (stdout and stderr together). "
                       f"Only the last {max_lines} lines or {max_bytes} bytes come back.",
        "parameters": {"type": "object", "properties": properties, "required": ["command"]},
        "execute": execute,
    }


# == 3 loop ==
# The part that asks the model, again and again. A model remembers nothing: all it knows is what
# this request carries.


class _Log:
    """The caller's list, and beside it what this run has put there."""

    def __init__(self, messages):
        self.messages = messages
        self.added = []

    def add(self, message):
        self.messages.append(message)
        self.added.append(message)
        return {"type": "message_end", "message": message, "position": len(self.messages) - 1}

    def results(self, calls):
        return self.added[len(self.added) - len(calls):] if calls else []


def run_agent(model, system, messages, tools, prompt, *, max_turns=None):
    """Answer `prompt`, with as many model calls as it takes: until a reply asks for no tool, a
    reply has failed (stop_reason "error"), or `max_turns` calls were made. None sets no limit.

    A run is a generator of events. An event is a dict that names its "type" and carries the facts;
    how they look is up to whoever listens. Whatever way a run ends, what it opened is closed again:
    turn_end for turn_start, agent_end for agent_start. And an event never speaks of a message that
    is not on the record yet: `messages`, the caller's own list, grows first, then the message_end
    goes out. The last of the "messages" that agent_end carries is how the run came out."""
    # --- your code ---
    log = _Log(messages)
    yield {"type": "agent_start", "prompt": prompt}
    for turn in itertools.count(1):
        yield {"type": "turn_start", "turn": turn}
        if turn == 1:
            yield log.add(user_message(prompt))
        if max_turns is None or turn <= max_turns:
            reply = model.complete(system, context_for_model(messages), tool_specs(tools))
        else:
            reply = error_message(f"Agent stopped after max_turns={max_turns}")
        yield log.add(reply)
        calls = tool_calls(reply)
        if reply["stop_reason"] == "error":
            calls = []
        for number, call in enumerate(calls, 1):
            place = {"number": number, "of": len(calls)}
            yield {"type": "tool_execution_start", "call": call, **place}
            result = run_tool(tools, call)
            yield log.add(result)
            yield {"type": "tool_execution_end", "call": call, "result": result, **place}
        yield {"type": "turn_end", "message": reply, "turn": turn, "results": log.results(calls)}
        if not calls:
            break
    yield {"type": "agent_end", "messages": log.added, "turns": turn, "ok": "error_message" not in reply}
    # --- end ---


def context_for_model(messages):
    """Choose what goes out. A reply that failed before it said anything did happen, so it is on the
    record, but a provider takes no empty message, so it is not sent. One that failed half-way is
    sent with what it holds. The list is a new one each time."""
    sent = []
    for message in messages:
        failed = message["role"] == "assistant" and message.get("stop_reason") == "error"
        if not failed or message["content"]:
            sent.append(message)
    return sent


# new in lesson 7
# == 5 frontends ==
# A frontend takes a run's events one at a time, render(event), and is asked at the end, finish(),
# whether all went well. What it draws is its own affair: the loop has no idea that it exists.


# new in lesson 7, and complete: an example of what a frontend looks like
class JsonRenderer:
    """For a program at the other end: one event, one line of JSON."""

    def __init__(self):
        self.failed = False

    def render(self, event):
        print(json.dumps(event))
        message = event["message"] if event["type"] == "message_end" else {}
        self.failed = self.failed or message.get("stop_reason") == "error"

    def finish(self):
        return not self.failed


# new in lesson 7: what it promises is written down, its methods are yours
class FinalTextRenderer:
    """For `> answer.txt`: the answer and nothing else. While the run goes on it keeps quiet; then
    finish() prints what the last assistant message says and returns True. A message that failed
    (stop_reason "error") is no answer: finish() says "Error: <its error_message>" and returns
    False."""

    # --- your code ---
    def __init__(self):
        self.replies = []

    def render(self, event):
        if event["type"] == "turn_end":
            self.replies.append(event["message"])

    def finish(self):
        last = self.replies[-1] if self.replies else error_message("the run was left")
        failed = last["stop_reason"] == "error"
        if failed:
            print("Error: " + last["error_message"], flush=True)
        else:
            print(text_of(last), flush=True)
        return not failed
    # --- end ---
