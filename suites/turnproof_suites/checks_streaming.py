"""Streaming: what the callbacks deliver is what the call returns, whole, once, in order and in time."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, compare_modes, finding, findings_or_compared
from turnproof.judge.view import Aliases, Callback, ProviderCall, View
from turnproof.judge.view.diff import ABSENT, Steps, walk_steps
from turnproof.messages import JSON, FinishReason, FunctionCall, Part, Text, Thought
from turnproof.run.transcript import Chunk, FunctionCallDetected, LateCallback, Thinking

from .content import calls_in, run_text, spoken_as, spoken_text, thought_runs
from .reading import AnsweredCall, answered_calls, by_place

_SHOWN_OTHERWISE = finding(
    "streaming/chunks-make-up-the-text/changed",
    "`on_chunk` got another text than the call returned.",
    "the text {expected} in all chunks together",
    "{observed}",
)


@check("streaming/chunks-make-up-the-text")
def chunks_make_up_the_text(view: View) -> Findings:
    """What was shown is what is returned. What a cancelled call returns has a requirement of its own."""
    for call in view.calls:
        if not call.began.streamed or call.response is None or call.callback_raised:
            continue
        if call.response.finish_reason is FinishReason.CANCELLED:
            continue
        shown, text = "".join(call.chunks), call.response.text
        if call.began.response_schema is not None and not text:
            continue
        if shown == text:
            yield Compared("chunks against texts")
        else:
            yield _SHOWN_OTHERWISE(
                _at_chunk(call, text), expected=text, observed=shown, related=(call.at(Side.RESPONSE, "parts"),)
            )


def _at_chunk(call: ProviderCall, text: str) -> Place:
    """The place of the chunk in which the chunks begin to differ from a text; of the last one where that goes on."""
    chunks = [event for event in call.callbacks if isinstance(event, Chunk)]
    shown = ""
    for chunk in chunks:
        shown += chunk.text
        if not text.startswith(shown) or chunk is chunks[-1]:
            return call.at_callback(chunk, "text")
    return call.at(Side.CALLBACK)


_AT_ONCE = finding(
    "streaming/text-is-passed-on-in-pieces/at-once",
    "The adapter collects a streamed text instead of passing it on.",
    "several calls of `on_chunk` for a text that came in {pieces} pieces",
    "{observed}",
)


_MANY_PIECES, _LONG_TEXT = 3, 40
"""Pieces of a text, and the characters in front of the last one, with which also a library that gathers short pieces
makes more calls than one."""


@check("streaming/text-is-passed-on-in-pieces")
def text_is_passed_on_in_pieces(view: View) -> Findings:
    """Not necessarily as they came, but not all at once either. A short text may be gathered."""
    for one in answered_calls(view):
        last = one.call.last
        if not one.call.began.streamed or last is None or not one.call.knows_callbacks:
            continue
        texts = [event.text for event in last.events if event.kind == "text" and event.text.strip()]
        if len(texts) < _MANY_PIECES or len("".join(texts[:-1])) < _LONG_TEXT:
            continue
        chunks = [event for event in one.call.callbacks if isinstance(event, Chunk)]
        if len(chunks) > 1:
            yield Compared("streamed texts")
        else:
            place = one.call.at_callback(chunks[0]) if chunks else one.call.at(Side.CALLBACK)
            yield _AT_ONCE(place, observed=len(chunks), related=(one.at_wire(),), pieces=len(texts))


_LATE = finding(
    "streaming/no-callback-after-the-return/late",
    "A callback ran after its call had returned.",
    "no callback after the return",
    "one of the kind {observed:words}",
)


@check("streaming/no-callback-after-the-return")
def no_callback_after_the_return(view: View) -> Findings:
    """Once the call has returned, its callbacks are silent."""
    for call in view.calls:
        for late in call.late:
            yield _LATE(_at_late(view, call, late), observed=late.kind, related=(call.at(Side.RESPONSE),))
        if not call.late and call.callbacks:
            yield Compared("callbacks")


def _at_late(view: View, call: ProviderCall, late: LateCallback) -> Place:
    """The callback, among what happened in the turn beside the call."""
    return call.at(Side.PROCESS, pointer=view.at_event(late, "kind").pointer)


_NOT_ANNOUNCED = finding(
    "streaming/calls-are-announced-once/not-announced",
    "The call returned a tool call that `on_function_call` did not get.",
    "the call {expected} in a callback",
    "none",
)
_NOT_RETURNED = finding(
    "streaming/calls-are-announced-once/not-returned",
    "`on_function_call` got a tool call that the call did not return.",
    "no callback for it, or the call {observed} in the response",
    "a callback alone",
)
_ANNOUNCED_OTHERWISE = finding(
    "streaming/calls-are-announced-once/changed",
    "`on_function_call` got a tool call otherwise than the call returned it.",
    "{expected}, as in the response",
    "{observed}",
)


@check("streaming/calls-are-announced-once", shows=("shows_calls",))
def calls_are_announced_once(view: View) -> Findings:
    """`on_function_call` gets exactly the calls that the response has, with complete arguments."""
    for call in view.calls:
        if not call.began.streamed or call.response is None or not call.knows_callbacks:
            continue
        if not view.shows_calls and not _runs_calls(call):
            continue
        announced, returned = call.function_calls, call.response.calls
        if call.last is not None and call.last.held:
            # A call that was complete before the cancel may have been announced; it is not returned.
            returned = announced
        if not announced and not returned:
            continue
        wrong = list(_announced_otherwise(call, announced, returned))
        yield from findings_or_compared(wrong, "announced calls")


def _runs_calls(call: ProviderCall) -> bool:
    """Whether the answer ended in a way in which a session runs its calls. Of any other it may hold none of them."""
    return call.answer is not None and call.answer.finish in (FinishReason.TOOL_USE, FinishReason.STOP)


def _announced_otherwise(
    call: ProviderCall, announced: tuple[FunctionCall, ...], returned: tuple[FunctionCall, ...]
) -> Iterator[Finding]:
    events = [event for event in call.callbacks if isinstance(event, FunctionCallDetected)]
    for steps, ours, theirs in walk_steps(_plain(announced), _plain(returned)):
        number = int(steps[0])
        if ours is ABSENT and len(steps) == 1:
            place = call.at(Side.RESPONSE, "parts", *_number_of(call, returned[number]))
            yield _NOT_ANNOUNCED(call.at(Side.CALLBACK), expected=theirs, related=(place,))
            continue
        place = call.at_callback(events[number], "function_call", *steps[1:])
        if theirs is ABSENT and len(steps) == 1:
            yield _NOT_RETURNED(place, observed=ours, related=(call.at(Side.RESPONSE, "parts"),))
            continue
        related = call.at(Side.RESPONSE, "parts")
        if number < len(returned):
            related = call.at(Side.RESPONSE, "parts", *_number_of(call, returned[number]), *steps[1:])
        yield _ANNOUNCED_OTHERWISE(
            place,
            expected=UNSET if theirs is ABSENT else theirs,
            observed=UNSET if ours is ABSENT else ours,
            related=(related,),
        )


def _number_of(call: ProviderCall, part: Part) -> tuple[int, ...]:
    """The index of a returned part; nothing where it is not among them."""
    parts = call.response.parts if call.response is not None else ()
    return next(((n,) for n, one in enumerate(parts) if one is part), ())


def _plain(calls: tuple[FunctionCall, ...]) -> JSON:
    return [{"id": call.id, "name": call.name, "args": call.args} for call in calls]


_CALLED_BACK_OTHERWISE = finding(
    "streaming/callbacks-follow-the-models-order/order",
    "The callbacks came in another order than the model's answer.",
    "callbacks for {expected}, in this order",
    "{observed}",
)


@check(
    "streaming/callbacks-follow-the-models-order",
    shows=("shows_calls",),
    aspect=lambda view: by_place(view, _orders(view)),
    callbacks=("on_chunk", "on_function_call"),
)
def callbacks_follow_the_models_order(view: View) -> Findings:
    """Thinking, text and calls are called back in the order in which the model produced them."""
    for one in answered_calls(view):
        if not one.call.began.streamed or not one.call.knows_callbacks:
            continue
        events = _first_of_each(_callback_kinds(one.call))
        observed = [kind for kind, _ in events]
        kinds = {kind.partition(":")[0] for kind in observed}
        expected = _without_repeats([kind for kind in _part_kinds(one.wire.parts) if kind.partition(":")[0] in kinds])
        # What is missing, doubled or renamed is another requirement's business.
        if len(expected) < 2 or sorted(expected) != sorted(observed):
            continue
        first = next((event for (kind, event), due in zip(events, expected, strict=True) if kind != due), None)
        if first is None:
            yield Compared("orders of callbacks")
        else:
            place = one.call.at_callback(first)
            yield _CALLED_BACK_OTHERWISE(place, expected=expected, observed=observed, related=(one.at_wire(),))


def _orders(view: View) -> Iterator[tuple[ProviderCall, JSON]]:
    for call in view.calls:
        if call.began.streamed and call.response is not None:
            kinds = [kind for kind, _ in _first_of_each(_callback_kinds(call))]
            yield call, [kind.partition(":")[2] or kind for kind in kinds]


def _callback_kinds(call: ProviderCall) -> list[tuple[str, Callback]]:
    kinds: list[tuple[str, Callback]] = []
    for event in call.callbacks:
        match event:
            case Chunk(text=text) if text.strip():
                kinds.append(("text", event))
            case Thinking(text=text) if text:
                kinds.append(("thinking", event))
            case FunctionCallDetected(function_call=found):
                kinds.append((f"call:{found.id}", event))
            case _:
                pass
    return kinds


def _first_of_each(called: list[tuple[str, Callback]]) -> list[tuple[str, Callback]]:
    """Neighbours of one kind as one, with the first callback of them."""
    return [pair for n, pair in enumerate(called) if n == 0 or called[n - 1][0] != pair[0]]


def _part_kinds(parts: tuple[Part, ...]) -> list[str]:
    kinds = []
    for part in parts:
        match part:
            case Text(text=text) if text.strip():
                kinds.append("text")
            case Thought(text=text) if text:
                kinds.append("thinking")
            case FunctionCall(id=name):
                kinds.append(f"call:{name}")
            case _:
                pass
    return kinds


def _without_repeats(kinds: list[str]) -> list[str]:
    return [kind for n, kind in enumerate(kinds) if n == 0 or kinds[n - 1] != kind]


_MODES_DIFFER = finding(
    "streaming/stream-and-batch-agree/differ",
    "The adapter returns another answer for a stream than for the same answer in one piece.",
    "{expected}, as in one piece",
    "{observed} from the stream",
)


@compare_modes("streaming/stream-and-batch-agree")
def stream_and_batch_agree(stream: View, batch: View) -> Findings:
    """Where the wire carried the same answer both ways, the adapter returns the same."""
    others = {one.call.place: one for one in answered_calls(batch)}
    for one in answered_calls(stream):
        other = others.get(one.call.place)
        if other is None or _wire(one) != _wire(other) or one.call.last is None or one.call.last.disturbed:
            continue
        differing = list(walk_steps(_response_value(one), _response_value(other)))
        for steps, streamed, one_piece in differing:
            yield _MODES_DIFFER(
                _at_returned(one, other, steps),
                expected=UNSET if one_piece is ABSENT else one_piece,
                observed=UNSET if streamed is ABSENT else streamed,
                related=(_at_returned(other, one, steps),),
            )
        if not differing:
            yield Compared("answers in both modes")


def _wire(one: AnsweredCall) -> JSON:
    return [_essence(one.wire.parts, one.wire.parts), one.wire.usage, one.wire.raw_finish, one.wire.broken_calls]


def _response_value(one: AnsweredCall) -> JSON:
    response = one.response
    return {
        "parts": _essence(response.parts, one.wire.parts) | {"text": spoken_as(response.parts, one.wire.parts)},
        "finish_reason": str(response.finish_reason),
        "prompt_tokens": response.usage.prompt_tokens,
        "output_tokens": response.usage.output_tokens,
        "structured_output": response.structured_output,
    }


def _at_returned(one: AnsweredCall, other: AnsweredCall, steps: Steps) -> Place:
    """The place in the response of what `_returned` has under these steps."""
    match steps:
        case ("parts", "text"):
            return one.at_text(spoken_text(other.response.parts))
        case ("parts", "calls", int(number), *rest) if number < len(one.response.calls):
            field = {1: "name", 2: "args"}.get(int(rest[0]), "id") if rest else None
            return one.at_part(one.response.calls[number], *(() if field is None else (field, *rest[1:])))
        case ("parts", "thoughts", int(number)) if number < len(runs := _thoughts_of(one)):
            return one.at_part(runs[number][0], "text")
        case ("parts", *_):
            return one.at("parts")
        case ("prompt_tokens" | "output_tokens", *_):
            return one.at("usage", *steps)
    return one.at(*steps)


def _thoughts_of(one: AnsweredCall) -> tuple[tuple[Thought, ...], ...]:
    return thought_runs(one.response.parts, one.wire.parts)


def _essence(parts: tuple[Part, ...], wire: tuple[Part, ...]) -> JSON:
    aliases = Aliases()
    return {
        "text": spoken_text(parts),
        "calls": [[aliases(call.id), call.name, call.args] for call in calls_in(parts)],
        "thoughts": [*map(run_text, thought_runs(parts, wire))],
    }
