"""Thinking: passed on as what it is, and given back to the model exactly as it came.

What came is read from the wire, not from the session: how an adapter stores a signature is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnproof.dialects.base import WireAnswer
from turnproof.messages import JSON, FunctionCall, Message, Part, Thought
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import differences, show
from turnproof.view.plain import joined

from .reading import Requested, answered, by_place, requested, spoken_text, thoughts_in


def _seal(part: Thought | FunctionCall) -> JSON:
    """What a part says and its signature (or encrypted form), as the dialect reads it in requests and answers alike."""
    said = {"text": part.text} if isinstance(part, Thought) else {"call": part.name, "args": part.args}
    return {**said, **(part.provider_data.data if part.provider_data is not None else {})}


def _sealed(parts: Iterable[Part]) -> tuple[Thought | FunctionCall, ...]:
    """The parts that carry what the model thought: signed thoughts, or signed calls where the provider signs those."""
    carriers = (part for part in parts if isinstance(part, Thought | FunctionCall))
    return tuple(part for part in carriers if part.provider_data is not None)


def _is_redacted(part: Part) -> bool:
    """Whether nobody but the model can read it: an encrypted block, or encrypted reasoning without a summary."""
    data = part.provider_data.data if part.provider_data is not None else {}
    return "redacted" in data or ("encrypted" in data and isinstance(part, Thought) and not part.text)


def _in_the_loop(view: View) -> Iterator[tuple[Requested, list[WireAnswer]]]:
    """Requests inside a tool loop, with the answers that led there; where the user interrupts, another one begins."""
    for request in requested(view):
        if view.scenario.turns[request.call.began.turn].interject is not None:
            continue
        before = [
            call.answer
            for call in view.calls
            if call.began.turn == request.call.began.turn
            and call.index < request.call.index
            and call.answer is not None
        ]
        if request.call.began.round > 0 and any(_sealed(answer.parts) for answer in before):
            yield request, before


def _current(request: Requested) -> tuple[Message, ...]:
    """The model's messages since the user spoke last."""
    messages = request.sent.messages
    start = max((n for n, message in enumerate(messages) if message.role == "user" and message.text), default=-1)
    return tuple(message for message in messages[start + 1 :] if message.role == "model")


def _goes_back(view: View, redacted: bool, what: str) -> Findings:
    for request, before in _in_the_loop(view):
        sent = [_seal(part) for message in _current(request) for part in _sealed(message.parts)]
        for part in (part for answer in before for part in _sealed(answer.parts)):
            if _is_redacted(part) is not redacted:
                continue
            if _seal(part) in sent:
                yield what
            else:
                yield violated(
                    f"{request.where}: {what} {show(_seal(part))} led to a call, and is not in the request "
                    "that answers it",
                    detail=f"thinking in the request: {show(sent, 600)}",
                )


@check("thinking/signed-thinking-goes-back-in-a-tool-loop")
def signed_thinking_goes_back_in_a_tool_loop(view: View) -> Findings:
    """Word for word, signature included, hidden text too."""
    yield from _goes_back(view, False, "signed thinking")


@check("thinking/redacted-thinking-goes-back-in-a-tool-loop")
def redacted_thinking_goes_back_in_a_tool_loop(view: View) -> Findings:
    """The encrypted block, untouched."""
    yield from _goes_back(view, True, "redacted thinking")


@check("thinking/nothing-is-forged")
def nothing_is_forged(view: View) -> Findings:
    """Every thought on the wire is one that the model finished: none is changed, half, or made up."""
    own = view.dialect.name.partition("@")[0]
    known: list[JSON] = [_seal(thought) for message in view.scenario.given for thought in _issued_by(own, message)]
    for call in view.calls:
        for exchange in call.generated:
            sent = exchange.call.messages if exchange.call is not None else ()
            for thought in (thought for message in sent for thought in thoughts_in(joined(message.parts))):
                if _seal(thought) in known:
                    yield "thinking sent back"
                else:
                    yield violated(f"{call.where}: the model never finished this thought: {show(_seal(thought))}")
            if exchange.answer is not None:
                known += map(_seal, _finished(exchange.answer))


def _issued_by(dialect: str, message: Message) -> Iterator[Thought]:
    """The thoughts of a message that another conversation of this API has brought, as far as they show where they are
    from: Gemini, for one, puts no mark on a thought."""
    for thought in thoughts_in(joined(message.parts)):
        if thought.provider_data is None or thought.provider_data.dialect == dialect:
            yield thought


def _finished(answer: WireAnswer) -> tuple[Thought, ...]:
    """The thoughts that came whole: those with a signature; where thoughts have none, all that something followed, and
    the last one of a whole answer."""
    parts = joined(answer.parts)
    signed = tuple(thought for thought in thoughts_in(parts) if thought.provider_data is not None)
    return signed or thoughts_in(parts if answer.complete else parts[:-1])


@check("thinking/comes-before-its-call")
def comes_before_its_call(view: View) -> Findings:
    """In the request, thoughts and calls stand in the order in which the model produced them."""
    for request, before in _in_the_loop(view):
        wanted = [kind for answer in before for kind in _order(answer.parts)]
        got = [kind for message in _current(request) for kind in _order(message.parts)]
        if sorted(wanted) != sorted(got):
            continue  # something is missing: another requirement's business
        if wanted == got:
            yield "orders of thinking and calls"
        else:
            yield violated(f"{request.where}: the model produced {wanted}, the request has {got}")


def _order(parts: tuple[Part, ...]) -> list[str]:
    kinds = {"Thought": "thinking", "FunctionCall": "call"}
    return [kinds[type(part).__name__] for part in parts if isinstance(part, Thought | FunctionCall)]


@check(
    "thinking/blocks-stay-apart",
    aspect=lambda view: by_place(
        view, ((one.call, [t.text for t in thoughts_in(one.response.parts)]) for one in answered(view))
    ),
)
def blocks_stay_apart(view: View) -> Findings:
    """As many thoughts as the model had, each with its own text, empty ones included."""
    for one in answered(view):
        sent = [thought.text for thought in thoughts_in(one.wire.parts)]
        got = [thought.text for thought in thoughts_in(one.response.parts)]
        if not sent:
            continue
        found = differences(sent, got, names=("wire", "response"))
        if found:
            yield violated(f"{one.where}: the thoughts differ: {found[0]}", detail="\n".join(found))
        else:
            yield "thoughts"


@check("thinking/is-passed-on")
def is_passed_on(view: View) -> Findings:
    """`on_thinking` gets all of it, in one piece or more."""
    for one in answered(view):
        sent = "".join(thought.text for thought in thoughts_in(one.wire.parts))
        if not one.call.began.streamed or not sent:
            continue
        got = "".join(one.call.thinking)
        if got == sent:
            yield "thinking passed on"
        else:
            yield violated(f"{one.where}: the wire carried the thinking {show(sent)}, on_thinking got {show(got)}")


@check("thinking/is-no-text")
def is_no_text(view: View) -> Findings:
    """It is shown neither as chunks nor as text of the response."""
    for one in answered(view):
        thoughts = [thought.text.strip() for thought in thoughts_in(one.wire.parts) if thought.text.strip()]
        text = spoken_text(one.wire.parts)
        shown = one.response.text + "\n" + "".join(one.call.chunks)
        leaked = [thought for thought in thoughts if thought in shown and thought not in text]
        if leaked:
            yield violated(f"{one.where}: thinking was delivered as text: {show(leaked[0])}")
        elif thoughts:
            yield "texts beside thinking"


@check("thinking/setting-goes-out")
def setting_goes_out(view: View) -> Findings:
    """What was switched on is asked for, in every request."""
    if not view.scenario.options.get("thinking"):
        return
    for request in requested(view):
        settings = request.sent.settings
        if any(value for name, value in settings.items() if "think" in name or "reason" in name):
            yield "thinking settings"
        else:
            yield violated(f"{request.where}: thinking is on, the request asks for {sorted(settings)} only")
