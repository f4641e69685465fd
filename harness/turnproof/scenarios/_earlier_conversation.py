"""A conversation that was held elsewhere, before the scenario: another model signed it, under ids of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from ..messages import FunctionCall, Message, Part, ProviderData, Role, Text, Thought, ToolResult, ToolSchema
from ._answers import RoundReader
from ._content import read_result, read_user
from ._located_value import LocatedValue
from .model import ScriptRound, ToolScript

ELSEWHERE: Final = ProviderData("elsewhere", "another-model", {"signature": "c2lnbmVkIGVsc2V3aGVyZQ=="})
"""What stands on thoughts and calls of a given conversation: a signature that no dialect of ours has issued."""


class GivenReader:
    """Reads its turns, and instructions between them. `results` say what tools had returned, unless a turn does."""

    def __init__(self, tools: tuple[ToolSchema, ...], results: Mapping[str, LocatedValue]) -> None:
        self.used_results: set[str] = set()
        self._tools = {tool.name for tool in tools}
        self._results = results
        self._calls = 0
        self._messages = 0

    def read(self, spot: LocatedValue) -> tuple[Message, ...]:
        """All messages, in order. Raises ScenarioError."""
        turns = spot.items("a list of turns")
        if not turns:
            spot.refuse("needs a turn; leave 'given' out for a conversation that begins here")
        messages = tuple(message for turn in turns for message in self._turn(turn))
        ids = [call.id for message in messages for call in message.calls]
        if twice := next((call_id for call_id in ids if ids.count(call_id) > 1), None):
            spot.refuse(f"two calls have the id {twice!r}")
        return messages

    def _turn(self, spot: LocatedValue) -> Iterator[Message]:
        if isinstance(spot.value, dict) and "system" in spot.value:
            yield self._message("system", (Text(spot.mapping(("system",)).at("system").text("an instruction")),))
            return
        spot.mapping(("user", "model", "results", "unanswered"), ("user", "model"), "a given turn")
        unanswered = (flag := spot.get("unanswered")) is not None and flag.flag()
        own = dict(results.members("results by tool")) if (results := spot.get("results")) else {}
        model = spot.at("model")
        rounds = RoundReader(self._tools).read(model)
        yield self._message("user", read_user(spot.at("user")))
        for number, round_ in enumerate(rounds):
            place = model if model.is_text else model.at(number)
            if isinstance(place.value, dict) and "parts" in place.value:
                place.refuse("is over: it has parts, and nothing else to say")
            answer = self._message("model", self._signed(round_, place))
            yield answer
            last = number == len(rounds) - 1
            if bool(answer.calls) == last and not (last and unanswered):
                what = "calls tools, but no answer follows; add one, or 'unanswered: true'" if last else "calls no tool"
                place.refuse(what if last else f"{what}, so nothing can follow it")
            if answer.calls and not last:
                yield self._message("tool", tuple(self._result(call, own, place) for call in answer.calls))
        if unanswered and not answer.calls:
            flag = spot.at("unanswered")
            flag.refuse("the last answer of this turn calls no tool")

    def _signed(self, round_: ScriptRound, spot: LocatedValue) -> tuple[Part, ...]:
        parts: list[Part] = []
        for scripted in round_.parts:
            part = scripted.part
            if isinstance(part, Thought):
                data = part.provider_data.data if part.provider_data is not None else ELSEWHERE.data
                part = replace(part, provider_data=ProviderData(ELSEWHERE.dialect, ELSEWHERE.model, data))
            elif isinstance(part, FunctionCall):
                if scripted.broken:
                    spot.refuse("holds a broken call; what was cut off is in no history")
                self._calls += 1
                part = replace(part, id=part.id or f"given_{self._calls}", provider_data=ELSEWHERE)
            parts.append(part)
        return tuple(parts)

    def _result(self, call: FunctionCall, own: Mapping[str, LocatedValue], place: LocatedValue) -> ToolResult:
        found = own.get(call.name) or self._results.get(call.name)
        if found is None:
            place.refuse(f"calls {call.name!r}, but neither this turn nor the scenario has results for it")
        self.used_results.update({call.name} - own.keys())
        script: ToolScript = read_result(found).for_args(call.args)
        if script.error is not None:
            return ToolResult(call.id, call.name, script.error, is_error=True)
        return ToolResult(call.id, call.name, script.result, attachments=script.attachments)

    def _message(self, role: Role, parts: tuple[Part, ...]) -> Message:
        self._messages += 1
        return Message(role, parts, f"given-{self._messages}")
