"""An answer read from its bytes alone: batch or stream, whole, cut, or an error under any status.

Reading never raises on what a server might send. Unknown events and steps are ignored or kept as `Opaque`; what was cut
is reported by `complete` and `broken_calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...messages import JSON, FunctionCall, Part
from ..base import WireAnswer
from ..lenient_reading import event_documents, json_of, message_of, not_json, read_batch_or_stream, word
from .finishes import FAILED, OPEN, neutral
from .steps import kind_of, read_step
from .usage import usage_of

Json = dict[str, Any]

_ENDS = ("interaction.completed", "interaction.complete", "interaction.cancelled")


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    return read_batch_or_stream(status, headers, body, batch=_read_batch, stream=_read_stream)


def _read_batch(status: int, body: bytes) -> WireAnswer:
    found = json_of(body)
    if not isinstance(found, dict):
        return not_json(status, body)
    error = found.get("error")
    if status >= 400 or (isinstance(error, dict) and "steps" not in found):
        return WireAnswer(status, error_kind=_kind(error), error_message=message_of(error))
    steps = found.get("steps")
    steps_read = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return _answer(status, found, steps_read, broken=0, complete=True)


def _kind(error: JSON) -> str | None:
    """The code of an error, a word; that of the Gemini API at the same host has a number there, and a status."""
    return (word(error.get("code")) or word(error.get("status"))) if isinstance(error, dict) else None


def _answer(status: int, interaction: Json, steps: list[Json], *, broken: int, complete: bool) -> WireAnswer:
    """What an interaction says, with its steps as they arrived."""
    model = str(interaction.get("model", ""))
    parts: list[Part] = [part for step in steps for part in read_step(step, model)]
    ending = word(interaction.get("status"))
    errors = interaction.get("errors")
    error = errors[0] if ending == FAILED and isinstance(errors, list) and errors else None
    calls = any(isinstance(part, FunctionCall) for part in parts)
    return WireAnswer(
        status,
        parts=tuple(parts),
        usage=usage_of(interaction.get("usage")),
        finish=neutral(ending, calls=calls),
        raw_finish=ending if ending not in OPEN else None,
        complete=complete and error is None,
        broken_calls=broken,
        error_kind=_kind(error),
        error_message=message_of(error),
        names=(name,) if (name := word(interaction.get("id"))) else (),
        model=model or None,
    )


# -- streams


@dataclass(slots=True)
class _Open:
    """A step that is still growing, with the pieces of its arguments."""

    step: Json
    arguments: list[str] = field(default_factory=list)
    stopped: bool = False

    def finished(self) -> Json | None:
        """The step as far as it came; None for a call that never became whole."""
        if kind_of(self.step) != "function_call":
            return self.step
        text = "".join(self.arguments)
        args = json_of(text) if text.strip() else self.step.get("arguments", {})
        return self.step | {"arguments": args} if self.stopped and isinstance(args, dict) else None


@dataclass(slots=True)
class Stream:
    """What the events have said so far: the steps by their place, and the interaction as it was last told."""

    interaction: Json = field(default_factory=dict)
    usage: JSON = None
    ended: bool = False
    damaged: bool = False
    error: Json | None = None
    _open: dict[int, _Open] = field(default_factory=dict)

    @property
    def steps(self) -> list[Json]:
        """The steps in order, without calls that were cut off."""
        finished = [each.finished() for _, each in sorted(self._open.items())]
        return [step for step in finished if step is not None]

    @property
    def broken(self) -> int:
        """How many calls were cut off."""
        return sum(each.finished() is None for each in self._open.values())

    def read_event(self, event: JSON) -> None:
        """One event; unknown ones change nothing."""
        if isinstance(event, dict) and isinstance(metadata := event.get("metadata"), dict):
            self.usage = metadata.get("usage") or metadata.get("total_usage") or self.usage
        match event:
            case {"event_type": str(kind), "interaction": dict(interaction)}:
                self.interaction = self.interaction | interaction
                self.ended = self.ended or kind in _ENDS
            case {"event_type": "interaction.status_update", "status": str(status)}:
                self.interaction = self.interaction | {"status": status}
            case {"event_type": "step.start", "index": int(place), "step": dict(step)}:
                self._open[place] = _Open(dict(step))
            case {"event_type": "step.delta", "index": int(place), "delta": dict(delta)} if place in self._open:
                _extend(self._open[place], delta)
            case {"event_type": "step.stop", "index": int(place)} if place in self._open:
                self._open[place].stopped = True
            case {"error": dict(error)}:
                self.error = error


def _extend(opened: _Open, delta: Json) -> None:
    """What a delta adds to a step that is still open."""
    step = opened.step
    match delta:
        case {"type": "text", "text": str(text)}:
            contents = _list(step, "content")
            if contents and contents[-1].get("type") == "text":
                contents[-1] = contents[-1] | {"text": str(contents[-1].get("text", "")) + text}
            else:
                contents.append({"text": text, "type": "text"})
        case {"type": "thought_summary", "content": dict(content)}:
            _list(step, "summary").append(content)
        case {"type": "thought_signature", "signature": str(signature)}:
            # Recorded: empty ones come between the pieces of a summary, and the whole one at the end.
            if signature:
                step["signature"] = signature
        case {"type": "arguments_delta", "arguments": str(text)}:
            opened.arguments.append(text)
        case {"type": "image" | "audio" | "video" | "document"}:
            _list(step, "content").append(delta)
        case {"type": str()}:
            step |= {name: value for name, value in delta.items() if name != "type"}


def _list(step: Json, name: str) -> list[Json]:
    """A list of objects in a step, made where there is none."""
    found = step.get(name)
    objects = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    step[name] = objects
    return objects


def read_events(body: bytes) -> Stream:
    """What the events of a stream say."""
    stream = Stream()
    for event in event_documents(body, end="[DONE]"):
        stream.damaged = stream.damaged or event is None
        stream.read_event(event)
    return stream


def _read_stream(status: int, body: bytes) -> WireAnswer:
    stream = read_events(body)
    interaction = stream.interaction if "usage" in stream.interaction else stream.interaction | {"usage": stream.usage}
    complete = stream.ended and not stream.damaged and stream.error is None
    answer = _answer(status, interaction, stream.steps, broken=stream.broken, complete=complete)
    if stream.error is None:
        return answer
    return replace(answer, error_kind=_kind(stream.error), error_message=message_of(stream.error))
