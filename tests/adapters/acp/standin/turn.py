"""A turn: the model is asked, and its calls are made, until it makes none."""

from __future__ import annotations

from typing import Any

from .blocks import api_block, text_block
from .model import Model
from .session import Session, Stopped

INTERRUPTED = "[Request interrupted by user]"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


class Turn:
    """From a prompt to the end of its answer."""

    def __init__(self, session: Session, model: Model) -> None:
        self.session = session
        self.model = model
        self.results: list[dict[str, Any]] = []
        """Results of the calls that the model made last."""

    def run(self) -> str:
        while True:
            stop = self.model.say()
            calls = [block for block in self.model.blocks if block["type"] == "tool_use"]
            self.keep()
            if not calls:
                return {"max_tokens": "max_tokens", "refusal": "refusal"}.get(stop, "end_turn")
            self.results = []
            for call in calls:
                self.call(call)
            self.session.record["messages"].append({"role": "user", "content": self.results})

    def keep(self) -> None:
        if self.model.blocks:
            self.session.record["messages"].append({"role": "assistant", "content": list(self.model.blocks)})

    def interrupted(self) -> None:
        """Leave the session so that it can be gone on with: what was said stays, and every call has a result."""
        messages = self.session.record["messages"]
        if messages[-1]["role"] == "user":
            blocks = [block for block in self.model.blocks if block["type"] != "tool_use" and block.get(block["type"])]
            if blocks:
                messages.append({"role": "assistant", "content": blocks})
            messages.append({"role": "user", "content": [text_block(INTERRUPTED)]})
            return
        answered = {each["tool_use_id"] for each in self.results}
        for call in self.model.blocks:
            if call["type"] == "tool_use" and call["id"] not in answered:
                self.result(call, [text_block(REFUSED)], is_error=True)
        messages.append({"role": "user", "content": [*self.results, text_block(INTERRUPTED)]})

    # -- tools

    def call(self, call: dict[str, Any]) -> None:
        self.session.check()
        self.session.show_call(call, call["input"], "tool_call_update")
        found = self.session.tool(call["name"])
        if found is None:
            text = f"<tool_use_error>Error: No such tool available: {call['name']}</tool_use_error>"
            self.result(call, [text_block(text)], is_error=True)
            return
        if not self.permitted(call):
            self.result(call, [text_block("User refused permission to run tool")], is_error=True)
            return
        server, name = found
        number = server.begin("tools/call", name=name, arguments=call["input"])
        self.session.on_cancel(lambda: server.drop(number))
        response = server.wait(number)
        self.session.on_cancel(None)
        self.session.check()
        assert response is not None
        self.result(call, response["content"], is_error=response.get("isError", False))

    def permitted(self, call: dict[str, Any]) -> bool:
        options = [
            {"kind": "allow_always", "name": "Always", "optionId": "allow_always"},
            {"kind": "allow_once", "name": "Allow", "optionId": "allow"},
            {"kind": "reject_once", "name": "Reject", "optionId": "reject"},
        ]
        shown = {"toolCallId": call["id"], "rawInput": call["input"], "title": call["name"], "kind": "other"}
        params = {"sessionId": self.session.record["sessionId"], "toolCall": shown, "options": options}
        answer = self.session.wire.ask("session/request_permission", params)
        self.session.check()
        if answer["outcome"]["outcome"] == "cancelled":
            raise Stopped
        return bool(answer["outcome"]["optionId"] == "allow")

    def result(self, call: dict[str, Any], content: list[Any], *, is_error: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": [api_block(each) for each in content]}
        if is_error:
            block["is_error"] = True
        self.results.append(block)
        self.session.show_result({**block, "content": content})
