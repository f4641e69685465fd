"""Freedoms of tool results: their form, their spelling, and the names of their members."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import Part, ToolResult, thaw

from ..mutants._wire import Json
from ._body import OfEachAPI, blocks_of_all
from ._parts import ChangedParts
from ._right import right


@right("results-as-blocks")
class _ResultsAsBlocks(OfEachAPI):
    """A result that was a bare text goes out as a list with one text block."""

    def change_messages(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] == "tool_result" and _says_something(block.get("content")):
                block["content"] = [{"type": "text", "text": block["content"]}]

    def change_chat(self, body: Json) -> None:
        for message in body["messages"]:
            if message["role"] == "tool" and _says_something(message["content"]):
                message["content"] = [{"type": "text", "text": message["content"]}]

    def change_responses(self, body: Json) -> None:
        for item in body["input"] if isinstance(body["input"], list) else ():
            if item.get("type") == "function_call_output" and _says_something(item["output"]):
                item["output"] = [{"type": "input_text", "text": item["output"]}]


def _says_something(content: Any) -> bool:
    """Whether a content is a text that may be a block of its own: a blank one is refused."""
    return isinstance(content, str) and bool(content.strip())


@right("results-say-no-error")
class _ResultsSayNoError(OfEachAPI):
    """A result of a tool that did not fail says so, which is what its silence means."""

    def change_messages(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] == "tool_result":
                block.setdefault("is_error", False)


@right("results-under-result")
class _ResultsUnderResult(OfEachAPI):
    """A result that is no object goes out under `result`, where it was under `output`: the service takes any object."""

    def change_gemini(self, body: Json) -> None:
        for content in body["contents"]:
            for part in content.get("parts", ()):
                response = part.get("functionResponse", {}).get("response", {})
                if set(response) == {"output"}:
                    response["result"] = response.pop("output")


@right("results-respaced")
class _ResultsRespaced(ChangedParts):
    """A result that is no text is made JSON by the adapter itself, with other blanks between its members."""

    def part_out(self, part: Part) -> Part:
        if not isinstance(part, ToolResult) or isinstance(part.result, str):
            return part
        return changed(part, result=json.dumps(thaw(part.result), ensure_ascii=False, indent=1))


@right("results-in-messages-of-their-own")
class _ResultsApart(OfEachAPI):
    """Each result goes out in a message of its own: the service reads neighbours of one role as one turn."""

    def change_messages(self, body: Json) -> None:
        messages = body["messages"]
        for number, message in reversed(list(enumerate(messages))):
            blocks = message["content"] if isinstance(message["content"], list) else []
            if len(blocks) > 1 and all(block["type"] == "tool_result" for block in blocks):
                messages[number : number + 1] = [message | {"content": [block]} for block in blocks]


@right("results-with-names")
class _ResultsWithNames(OfEachAPI):
    """Each result names its tool as well as its call, as the older form of the API had it."""

    def change_chat(self, body: Json) -> None:
        names = {
            call["id"]: call["function"]["name"]
            for message in body["messages"]
            for call in message.get("tool_calls") or ()
        }
        for message in body["messages"]:
            if message["role"] == "tool" and message["tool_call_id"] in names:
                message.setdefault("name", names[message["tool_call_id"]])


@right("attachments-behind-results")
class _AttachmentsBehindResults(OfEachAPI):
    """What a tool attached follows the results in the same message, with a line in front that names the call."""

    def change_messages(self, body: Json) -> None:
        for message in body["messages"]:
            blocks = message["content"] if isinstance(message["content"], list) else []
            for result in [block for block in blocks if block["type"] == "tool_result"]:
                inside = result.get("content")
                media = [one for one in inside if one["type"] != "text"] if isinstance(inside, list) else []
                if not media:
                    continue
                result["content"] = [one for one in inside if one["type"] == "text"]
                blocks += [{"type": "text", "text": f"From {result['tool_use_id']}:"}, *media]
