"""What LiteLLM adds to the messages of chat completions: thinking, and signatures on texts and calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnproof.messages import FunctionCall, Message, Part, Text, Thought

from .chat_messages import calls_of, chat_call
from .issued_data import IssuedData


class LiteLLMMessages(IssuedData):
    """Reads and writes messages of the model, for the dialect and the model that issue what is signed."""

    def parts(self, message: Any, *, cut: bool) -> Iterator[Part]:
        """The parts of a message of the library. A message has no order of its own: thinking, text, calls."""
        blocks = message.get("thinking_blocks") or ()
        for block in blocks:
            own = {key: value for key, value in block.items() if key in ("signature", "data") and value}
            yield Thought(block.get("thinking") or "", provider_data=self._issued(own))
        if not blocks and message.get("reasoning_content"):
            yield Thought(message.reasoning_content)
        calls = list(calls_of(message, cut=cut))
        signed = [call.get("provider_specific_fields") or {} for _, call in calls]
        if text := message.content or message.get("refusal"):
            signatures = (message.get("provider_specific_fields") or {}).get("thought_signatures") or ()
            loose = [one for one in signatures if {"thought_signature": one} not in signed]
            own = {"refusal": True} if message.get("refusal") else {}
            yield Text(text, provider_data=self._issued(own | ({"thought_signature": loose[0]} if loose else {})))
        for (call, _), own in zip(calls, signed, strict=True):
            yield FunctionCall(call.id, call.name, call.args, provider_data=self._issued(own))

    def additions(self, message: Message) -> dict[str, Any]:
        """What the library reads of a message of the model beyond its text and calls."""
        thoughts = [part for part in message.parts if isinstance(part, Thought)]
        added: dict[str, Any] = {}
        if blocks := [block for block in map(self._thinking_block, thoughts) if block]:
            added["thinking_blocks"] = blocks
        if self._dialect == "gemini" and (own := [part.text for part in thoughts if self._is_own(part)]):
            added["reasoning_content"] = "".join(own)
        for part in message.parts:
            if isinstance(part, Text) and (signature := self._own(part).get("thought_signature")):
                added["provider_specific_fields"] = {"thought_signatures": [signature]}
        calls = [chat_call(call) | self._call_fields(call) for call in message.calls]
        return added | ({"tool_calls": calls} if calls else {})

    def _thinking_block(self, part: Thought) -> dict[str, Any]:
        own = self._own(part)
        if "data" in own:
            return {"type": "redacted_thinking", "data": own["data"]}
        return {"type": "thinking", "thinking": part.text, "signature": own["signature"]} if "signature" in own else {}

    def _call_fields(self, call: FunctionCall) -> dict[str, Any]:
        own = self._own(call)
        return {"provider_specific_fields": own} if own else {}
