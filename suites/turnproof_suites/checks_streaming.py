"""Streaming: what the callbacks deliver is what the call returns, whole, once, in order and in time."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.messages import JSON, FinishReason, FunctionCall, Part, Text, Thought
from turnproof.requirements import Findings, check, compare_modes
from turnproof.transcript import Chunk, FunctionCallDetected, Thinking
from turnproof.verdict import violated
from turnproof.view import Aliases, ProviderCall, View
from turnproof.view.diff import differences, show

from .reading import Answered, answered, by_place, calls_in, excerpt, spoken_text, thoughts_in


@check("streaming/chunks-make-up-the-text")
def chunks_make_up_the_text(view: View) -> Findings:
    """What was shown is what is returned. What a cancelled call returns has a requirement of its own."""
    for call in view.calls:
        if not call.began.streamed or call.response is None:
            continue
        if call.response.finish_reason is FinishReason.CANCELLED:
            continue
        shown, text = "".join(call.chunks), call.response.text
        if call.began.response_schema is not None and not text:
            continue
        if shown == text:
            yield "chunks against texts"
        else:
            yield violated(f"{call.where}: on_chunk got {show(shown)}, the response has {show(text)}")


@check("streaming/text-is-passed-on-in-pieces")
def text_is_passed_on_in_pieces(view: View) -> Findings:
    """Not necessarily as they came, but not all at once either."""
    for one in answered(view):
        last = one.call.last
        if not one.call.began.streamed or last is None:
            continue
        pieces = sum(1 for event in last.events if event.kind == "text" and event.text.strip())
        if pieces < 3:
            continue
        if len(one.call.chunks) > 1:
            yield "streamed texts"
        else:
            yield violated(
                f"{one.where}: the text came in {pieces} pieces, on_chunk was called {len(one.call.chunks)} times"
            )


@check("streaming/no-callback-after-the-return")
def no_callback_after_the_return(view: View) -> Findings:
    """Once the call has returned, its callbacks are silent."""
    for call in view.calls:
        if call.late:
            yield violated(f"{call.where}: {call.late[0].kind} was called back after the call had returned")
        elif call.callbacks:
            yield "callbacks"


@check("streaming/calls-are-announced-once")
def calls_are_announced_once(view: View) -> Findings:
    """`on_function_call` gets exactly the calls that the response has, with complete arguments."""
    for call in view.calls:
        if not call.began.streamed or call.response is None:
            continue
        announced, returned = call.function_calls, call.response.calls
        if call.last is not None and call.last.held:
            # A call that was complete before the cancel may have been announced; it is not returned.
            returned = announced
        if not announced and not returned:
            continue
        found = differences(_plain(announced), _plain(returned), names=("announced", "returned"))
        if found:
            yield violated(
                f"{call.where}: on_function_call and the response disagree: {found[0]}", detail="\n".join(found)
            )
        else:
            yield "announced calls"


def _plain(calls: tuple[FunctionCall, ...]) -> JSON:
    return [{"id": call.id, "name": call.name, "args": call.args} for call in calls]


@check(
    "streaming/callbacks-follow-the-models-order",
    aspect=lambda view: by_place(view, _orders(view)),
)
def callbacks_follow_the_models_order(view: View) -> Findings:
    """Thinking, text and calls are called back in the order in which the model produced them."""
    for one in answered(view):
        if not one.call.began.streamed:
            continue
        got = _called_back(one.call)
        kinds = {kind.partition(":")[0] for kind in got}
        wanted = [kind for kind in _produced(one.wire.parts) if kind.partition(":")[0] in kinds]
        wanted, got = _merged(wanted), _merged(got)
        # What is missing, doubled or renamed is another requirement's business.
        if len(wanted) < 2 or sorted(wanted) != sorted(got):
            continue
        if got == wanted:
            yield "orders of callbacks"
        else:
            yield violated(f"{one.where}: the model produced {wanted}, the callbacks came as {got}")


def _orders(view: View) -> Iterator[tuple[ProviderCall, JSON]]:
    for call in view.calls:
        if call.began.streamed and call.response is not None:
            yield call, [kind.partition(":")[2] or kind for kind in _merged(_called_back(call))]


def _called_back(call: ProviderCall) -> list[str]:
    kinds = []
    for event in call.callbacks:
        match event:
            case Chunk(text=text) if text.strip():
                kinds.append("text")
            case Thinking(text=text) if text:
                kinds.append("thinking")
            case FunctionCallDetected(function_call=found):
                kinds.append(f"call:{found.id}")
            case _:
                pass
    return kinds


def _produced(parts: tuple[Part, ...]) -> list[str]:
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


def _merged(kinds: list[str]) -> list[str]:
    return [kind for n, kind in enumerate(kinds) if n == 0 or kinds[n - 1] != kind]


@check("streaming/characters-survive-the-cut")
def characters_survive_the_cut(view: View) -> Findings:
    """Bytes may be split anywhere, inside a character or a line end too."""
    for call in _disturbed(view, "split", "drip"):
        yield from _unchanged(call, "however the bytes were split")


@check("streaming/keep-alives-change-nothing")
def keep_alives_change_nothing(view: View) -> Findings:
    """Comments, pings and retry lines between the events are no part of the answer."""
    for call in _disturbed(view, "comment"):
        yield from _unchanged(call, "whatever keep-alives stood between the events")


@check("streaming/spelling-changes-nothing")
def spelling_changes_nothing(view: View) -> Findings:
    """Other line ends, no blank behind a colon, padding inside a document: the events are the same."""
    for call in _disturbed(view, "respelled"):
        yield from _unchanged(call, "however the stream was spelled")


def _disturbed(view: View, *faults: str) -> Iterator[ProviderCall]:
    for call in view.calls:
        last = call.last
        if call.answer is not None and last is not None and last.response is not None and last.response.fault in faults:
            yield call


def _unchanged(call: ProviderCall, how: str) -> Findings:
    wire = call.answer
    assert wire is not None
    if call.failed is not None:
        yield violated(f"{call.where}: {call.failed.error}: {call.failed.message}; the answer was whole, {how}")
        return
    if call.response is None:
        return
    sent: dict[str, JSON] = {"text": spoken_text(wire.parts)}
    got: dict[str, JSON] = {"text": spoken_text(call.response.parts)}
    if wire.finish not in (FinishReason.MAX_TOKENS, FinishReason.CONTEXT_LIMIT):
        # An answer in one piece does not tell a whole call from one that the limit has cut, which is left out.
        sent["args"] = [part.args for part in calls_in(wire.parts)]
        got["args"] = [part.args for part in call.response.calls]
    found = differences(sent, got, names=("wire", "response"))
    if found:
        yield violated(f"{call.where}: the answer must be the same {how}: {found[0]}", detail=excerpt(call.last))
    else:
        yield f"answers, {how}"


@compare_modes("streaming/stream-and-batch-agree")
def stream_and_batch_agree(stream: View, batch: View) -> Findings:
    """Where the wire carried the same answer both ways, the adapter returns the same."""
    others = {one.call.place: one for one in answered(batch)}
    for one in answered(stream):
        other = others.get(one.call.place)
        if other is None or _wire(one) != _wire(other) or one.call.last is None or one.call.last.disturbed:
            continue
        found = differences(_returned(one), _returned(other), names=("streamed", "in one piece"))
        if found:
            yield violated(f"{one.where}: streamed and in one piece differ: {found[0]}", detail="\n".join(found))
        else:
            yield "answers in both modes"


def _wire(one: Answered) -> JSON:
    return [_essence(one.wire.parts), one.wire.usage, one.wire.raw_finish, one.wire.broken_calls]


def _returned(one: Answered) -> JSON:
    response = one.response
    return {
        "parts": _essence(response.parts),
        "finish_reason": str(response.finish_reason),
        "prompt_tokens": response.usage.prompt_tokens,
        "output_tokens": response.usage.output_tokens,
        "structured_output": response.structured_output,
    }


def _essence(parts: tuple[Part, ...]) -> JSON:
    aliases = Aliases()
    return {
        "text": spoken_text(parts),
        "calls": [[aliases(call.id), call.name, call.args] for call in calls_in(parts)],
        "thoughts": [thought.text for thought in thoughts_in(parts)],
    }
