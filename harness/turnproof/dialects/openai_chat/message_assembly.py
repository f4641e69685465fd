"""One message put together from the deltas of a stream, or read from an answer in one piece.

Fragments of a call belong together by `index`. Servers that imitate the API were seen to give all parallel calls the
same index and tell them apart by their ids alone (defects:TP10): an id that is not the one before begins another call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages import JSON, FunctionCall, Opaque, Part, ProviderData, Text, Thought
from ..lenient_reading import word
from .content import arguments_of, call_of, refusal, text_of
from .rules import NAME
from .surface_table import THOUGHTS

_KNOWN = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "reasoning_opaque", *THOUGHTS})


@dataclass(slots=True)
class _Call:
    """What has been said of one call. `other` is a call that is no function's, as it stood."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    other: Mapping[str, Any] | None = None

    def add_fragment(self, call: Mapping[str, Any]) -> None:
        """One fragment, or the whole call."""
        self.id = self.id or word(call.get("id")) or ""
        if "function" not in call and (self.other is not None or call.get("type") not in (None, "function")):
            self.other = _joined(self.other or {}, call)
        function = call.get("function")
        if isinstance(function, dict):
            self.name = self.name or word(function.get("name")) or ""
            if (piece := word(function.get("arguments"))) is not None:
                self.arguments.append(piece)

    def part(self, *, ended: bool) -> Part | None:
        """The call, or None where its arguments are not whole. None at all are whole once the answer has ended."""
        if self.other is not None:
            return call_of(self.other, "")
        written = "".join(self.arguments)
        args = arguments_of(written) if written.strip() or ended else None
        return None if args is None else FunctionCall(self.id, self.name, args)


def _joined(known: Mapping[str, Any], fragment: Mapping[str, Any]) -> dict[str, Any]:
    """A call that is no function's with one more fragment: the input of a custom tool comes in pieces."""
    joined = {**known, **{name: value for name, value in fragment.items() if name != "index"}}
    before, now = known.get("custom"), fragment.get("custom")
    if isinstance(before, dict) and isinstance(now, dict):
        pieces = (word(before.get("input")) or "", word(now.get("input")) or "")
        joined["custom"] = {**before, **now, "input": "".join(pieces)}
    return joined


@dataclass(slots=True)
class Assembled:
    """What one choice has said so far."""

    thinking: list[str] = field(default_factory=list)
    sealed: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    raw_finish: str | None = None
    _at: dict[int, _Call] = field(default_factory=dict)
    _old: _Call | None = None

    def add_delta(self, delta: Mapping[str, Any], finish: JSON) -> None:
        """A delta, or a whole message, and how the choice ended, if it has."""
        self.raw_finish = word(finish) or self.raw_finish
        self.text.append(text_of(delta.get("content")))
        self.refused.append(word(delta.get("refusal")) or "")
        self.thinking.append(next((text for name in THOUGHTS if (text := word(delta.get(name)))), ""))
        self.sealed.append(word(delta.get("reasoning_opaque")) or "")
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call)
        if isinstance(function := delta.get("function_call"), dict):
            self._function(function)
        self.fields |= {name: value for name, value in delta.items() if name not in _KNOWN and value}

    def _call(self, call: Mapping[str, Any]) -> None:
        index = call["index"] if type(call.get("index")) is int else -1
        known, call_id = self._at.get(index), word(call.get("id"))
        other = known is not None and bool(call_id) and bool(known.id) and call_id != known.id
        if known is None or other or (index < 0 and call_id):
            known = self._at[index] = _Call()
            self.calls.append(known)
        known.add_fragment(call)

    def _function(self, function: Mapping[str, Any]) -> None:
        """A call of the old kind: there is one at most, and it has no id."""
        if self._old is None:
            self._old = _Call()
            self.calls.append(self._old)
        self._old.add_fragment({"function": function})

    def parts(self, model: str, *, ended: bool) -> Iterator[Part | None]:
        """What was said, in the order that the API's form has; None for a call that is not whole."""
        thinking, sealed, text, refused = map("".join, (self.thinking, self.sealed, self.text, self.refused))
        if thinking or sealed:
            data = ProviderData(NAME, model, {"encrypted": sealed}) if sealed else None
            yield Thought(thinking, provider_data=data)
        if text:
            yield Text(text)
        if refused:
            yield refusal(refused, model)
        for name, value in self.fields.items():
            yield Opaque(NAME, name, {name: value})
        for call in self.calls:
            yield call.part(ended=ended)
