"""Thinking: passed on as what it is, and given back to the model exactly as it came.

What came is read from the wire, not from the session: how an adapter stores a signature is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from turnproof.dialects.base import WireAnswer
from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.judge.view.plain_content import joined
from turnproof.messages import JSON, FunctionCall, Message, Part, Text, Thought
from turnproof.run.transcript import Chunk, Thinking

from .content import attached_to_results, run_text, shows_attachments, spoken_text, thought_runs, thoughts_in
from .part_rows import value_differences
from .reading import AnsweredCall, ReadRequest, answered_calls, by_place, read_requests


def _seal(part: Thought | FunctionCall) -> dict[str, JSON]:
    """What a part says and its signature (or encrypted form), as the dialect reads it in requests and answers alike."""
    content = {"text": part.text} if isinstance(part, Thought) else {"call": part.name, "args": part.args}
    return {**content, **(part.provider_data.data if part.provider_data is not None else {})}


def _without_name(seal: dict[str, JSON]) -> dict[str, JSON]:
    """The same whatever the tool is called: a name that the adapter rewrites is for requirements on names."""
    return {key: value for key, value in seal.items() if key != "call"}


def _signed_parts(parts: Iterable[Part]) -> tuple[Thought | FunctionCall, ...]:
    """The parts that carry what the model thought: signed thoughts, or signed calls where the provider signs those."""
    return tuple(part for part in _carriers(parts) if part.provider_data is not None)


def _carriers(parts: Iterable[Part]) -> list[Thought | FunctionCall]:
    """The parts that may be signed."""
    return [part for part in parts if isinstance(part, Thought | FunctionCall)]


def _is_redacted(part: Part) -> bool:
    """Whether nobody but the model can read it: an encrypted block, or encrypted reasoning without a summary."""
    data = part.provider_data.data if part.provider_data is not None else {}
    return "redacted" in data or ("encrypted" in data and isinstance(part, Thought) and not part.text)


def _in_the_loop(view: View) -> Iterator[tuple[ReadRequest, list[tuple[Exchange, WireAnswer]]]]:
    """Requests inside a tool loop, with the answers that led there; where the user interrupts, another one begins."""
    for request in read_requests(view):
        if view.scenario.turns[request.call.began.turn].interject is not None:
            continue
        before = [
            (call.last, call.answer)
            for call in view.calls
            if call.began.turn == request.call.began.turn
            and call.index < request.call.index
            and call.last is not None
            and call.answer is not None
        ]
        if request.call.began.round > 0 and any(_signed_parts(answer.parts) for _, answer in before):
            yield request, before


def _current(request: ReadRequest) -> tuple[Message, ...]:
    """The model's messages since the user spoke last; behind results may stand what these have attached."""
    messages, attached = request.wire.messages, attached_to_results(request.session_messages)
    start = -1
    for number, message in enumerate(messages):
        if message.role == "user" and message.text and not shows_attachments(message, attached):
            start = number
    return tuple(message for message in messages[start + 1 :] if message.role == "model")


def _replay_findings(view: View, redacted: bool, what: str, missing: FindingCode, changed: FindingCode) -> Findings:
    for request, before in _in_the_loop(view):
        sent = [part for message in _current(request) for part in _carriers(message.parts)]
        seals = [_seal(part) for part in _signed_parts(sent)]
        known = [_without_name(seal) for seal in seals]
        expected = [(exchange, part) for exchange, answer in before for part in _signed_parts(answer.parts)]
        strange = [part for part in sent if _seal(part) not in [_seal(own) for _, own in expected]]
        for exchange, part in expected:
            if _is_redacted(part) is not redacted:
                continue
            if _without_name(_seal(part)) in known:
                yield Compared(what)
                continue
            twin = next((one for one in strange if _is_alike(one, part)), None)
            related = [exchange.at_part(part)]
            if twin is not None:
                yield changed(
                    request.at_part(twin, "provider_data"), expected=_seal(part), observed=_seal(twin), related=related
                )
            else:
                yield missing(_at_current(request), expected=_seal(part), observed=seals, related=related)


def _is_alike(sent: Thought | FunctionCall, own: Thought | FunctionCall) -> bool:
    """Whether a part says what the model's own part says, whatever signs or encrypts it."""
    match sent, own:
        case Thought(text=text), Thought(text=expected):
            return text == expected and (bool(text) or _is_redacted(sent) is _is_redacted(own))
        case FunctionCall(name=name, args=args), FunctionCall(name=tool, args=expected):
            return name == tool and args == expected
    return False


def _at_current(request: ReadRequest) -> Place:
    """The first message of the model since the user spoke last; all messages where there is none."""
    first = next(iter(_current(request)), None)
    number = next((n for n, message in enumerate(request.wire.messages) if message is first), None)
    return request.at("messages") if number is None else request.at("messages", number)


_SIGNED_MISSING = finding(
    "thinking/signed-thinking-goes-back-in-a-tool-loop/missing",
    "Signed thinking that led to a call is missing from the request with the result.",
    "{expected}",
    "the signed parts {observed}",
)
_SIGNED_CHANGED = finding(
    "thinking/signed-thinking-goes-back-in-a-tool-loop/changed",
    "The signature of thinking that led to a call is changed or missing in the request with the result.",
)


@check("thinking/signed-thinking-goes-back-in-a-tool-loop")
def signed_thinking_goes_back_in_a_tool_loop(view: View) -> Findings:
    """Word for word, signature included, hidden text too."""
    yield from _replay_findings(view, False, "signed thinking", _SIGNED_MISSING, _SIGNED_CHANGED)


_REDACTED_MISSING = finding(
    "thinking/redacted-thinking-goes-back-in-a-tool-loop/missing",
    "Redacted thinking that led to a call is missing from the request with the result.",
    "{expected}",
    "the signed parts {observed}",
)
_REDACTED_CHANGED = finding(
    "thinking/redacted-thinking-goes-back-in-a-tool-loop/changed",
    "Redacted thinking that led to a call is changed in the request with the result.",
)


@check("thinking/redacted-thinking-goes-back-in-a-tool-loop")
def redacted_thinking_goes_back_in_a_tool_loop(view: View) -> Findings:
    """The encrypted block, untouched."""
    yield from _replay_findings(view, True, "redacted thinking", _REDACTED_MISSING, _REDACTED_CHANGED)


_FORGED = finding(
    "thinking/nothing-is-forged/unknown",
    "The request has thinking that the model never finished.",
    "only thinking that the model finished",
)


@check("thinking/nothing-is-forged")
def nothing_is_forged(view: View) -> Findings:
    """Every thought on the wire is one that the model finished: none is changed, half, or made up."""
    own = view.dialect.name.partition("@")[0]
    known: list[JSON] = [_seal(thought) for message in view.scenario.given for thought in _issued_by(own, message)]
    for call in view.calls:
        for exchange in call.generated:
            sent = exchange.call.messages if exchange.call is not None else ()
            if known and not any(thoughts_in(message.parts) for message in sent):
                yield Compared("requests without the thinking that came before")
            for number, message in enumerate(sent):
                for thought in thoughts_in(joined(message.parts)):
                    if _seal(thought) in known:
                        yield Compared("thinking sent back")
                    else:
                        place = exchange.at_read("messages", number, "parts", _first_piece(message, thought))
                        yield _FORGED(place, observed=_seal(thought))
            if exchange.answer is not None:
                known += map(_seal, _whole_thoughts(exchange.answer))


def _first_piece(message: Message, thought: Thought) -> int:
    """The index of the part with which a thought begins: neighbours may have been joined to it."""
    pieces = [(place, part) for place, part in enumerate(message.parts) if isinstance(part, Thought)]
    equal_places = (place for place, part in pieces if part == thought)
    begins = (place for place, part in pieces if part.provider_data is None and thought.text.startswith(part.text))
    return next(chain(equal_places, begins), pieces[0][0])


def _issued_by(dialect: str, message: Message) -> Iterator[Thought]:
    """The thoughts of a message that another conversation of this API has brought, as far as they show where they are
    from: Gemini, for one, puts no mark on a thought."""
    for thought in thoughts_in(joined(message.parts)):
        if thought.provider_data is None or thought.provider_data.dialect == dialect:
            yield thought


def _whole_thoughts(answer: WireAnswer) -> tuple[Thought, ...]:
    """The thoughts that came whole: those with a signature; where thoughts have none, all that something followed, and
    the last one of a whole answer."""
    parts = joined(answer.parts)
    signed = tuple(thought for thought in thoughts_in(parts) if thought.provider_data is not None)
    return signed or thoughts_in(parts if answer.complete else parts[:-1])


_ORDER = finding(
    "thinking/comes-before-its-call/order",
    "Thinking and calls are in another order than the model produced them.",
    "{expected}, in this order",
)


@check("thinking/comes-before-its-call")
def comes_before_its_call(view: View) -> Findings:
    """In the request, thoughts and calls stand in the order in which the model produced them."""
    for request, before in _in_the_loop(view):
        expected = [_kind(part) for _, answer in before for part in _ordered(answer.parts)]
        parts = [part for message in _current(request) for part in _ordered(message.parts)]
        observed = list(map(_kind, parts))
        if sorted(expected) != sorted(observed):
            continue  # something is missing: another requirement's business
        if expected == observed:
            yield Compared("orders of thinking and calls")
        else:
            # The first thought from there on has come behind a call, or in front of one that it followed.
            moved = next(n for n, kind in enumerate(expected) if observed[n] != kind)
            first = next(part for part in parts[moved:] if isinstance(part, Thought))
            yield _ORDER(request.at_part(first), expected=expected, observed=observed)


def _ordered(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if isinstance(part, Thought | FunctionCall)]


def _kind(part: Part) -> str:
    return "thinking" if isinstance(part, Thought) else "call"


_BLOCK_CHANGED = finding(
    "thinking/blocks-stay-apart/changed",
    "The thoughts in the response are not those of the answer.",
    "the thought {expected}",
    "{observed}",
)


@check(
    "thinking/blocks-stay-apart",
    aspect=lambda view: by_place(
        view,
        (
            (one.call, [*map(run_text, thought_runs(one.response.parts, one.wire.parts))])
            for one in answered_calls(view)
        ),
    ),
)
def blocks_stay_apart(view: View) -> Findings:
    """As many thoughts as the model had, each with its own text, those included that carry a signature alone."""
    for one in answered_calls(view):
        sent, response_thoughts = (
            thought_runs(parts, one.wire.parts) for parts in (one.wire.parts, one.response.parts)
        )
        if not sent:
            continue
        wrong = list(value_differences([*map(run_text, sent)], [*map(run_text, response_thoughts)]))
        for each in wrong:
            own_thought = response_thoughts[int(each.steps[0])][0] if each.steps else None
            place = (
                one.at("parts")
                if own_thought is None
                else one.at_part(own_thought, *(["text"] if own_thought.text else []))
            )
            theirs = next((run[0] for run in sent if run_text(run) == each.expected), None)
            related = [] if theirs is None else [one.at_wire(theirs)]
            yield _BLOCK_CHANGED(place, expected=each.expected, observed=each.observed, related=related)
        if not wrong:
            yield Compared("thoughts")


_NOT_PASSED_ON = finding(
    "thinking/is-passed-on/callbacks",
    "What `on_thinking` got is not the thinking of the answer.",
    "{expected} in the calls of `on_thinking`",
)


@check("thinking/is-passed-on", shows=("shows_thinking",))
def is_passed_on(view: View) -> Findings:
    """`on_thinking` gets all of it, in one piece or more."""
    for one in answered_calls(view):
        thoughts = thoughts_in(one.wire.parts)
        sent = "".join(thought.text for thought in thoughts)
        if not one.call.began.streamed or not sent or not one.call.knows_callbacks:
            continue
        observed = "".join(one.call.thinking)
        if observed == sent:
            yield Compared("thinking passed on")
        else:
            first = next(thought for thought in thoughts if thought.text)
            yield _NOT_PASSED_ON(
                _at_thinking(one, sent), expected=sent, observed=observed, related=[one.at_wire(first)]
            )


def _at_thinking(one: AnsweredCall, sent: str) -> Place:
    """The first call of `on_thinking` that brought something else; all callbacks where only something is missing."""
    text = ""
    for event in one.call.callbacks:
        if isinstance(event, Thinking):
            text += event.text
            if not sent.startswith(text):
                return one.call.at_callback(event, "text")
    return one.call.at(Side.CALLBACK)


_IN_RESPONSE = finding(
    "thinking/is-no-text/in-response",
    "Thinking was returned as text of the response.",
    "a text without the thinking {thinking}",
)
_IN_CHUNKS = finding(
    "thinking/is-no-text/in-chunks", "Thinking was passed to `on_chunk`.", "chunks without the thinking {thinking}"
)


@check("thinking/is-no-text")
def is_no_text(view: View) -> Findings:
    """It is shown neither as chunks nor as text of the response."""
    for one in answered_calls(view):
        thoughts = [thought for thought in thoughts_in(one.wire.parts) if thought.text.strip()]
        wrong = [found for thought in thoughts for found in _shown_as_text(one, thought)]
        yield from wrong
        if thoughts and not wrong:
            yield Compared("texts beside thinking")


def _shown_as_text(one: AnsweredCall, thought: Thought) -> Iterator[Finding]:
    thought_text, shown = thought.text.strip(), "".join(one.call.chunks)
    if thought_text in spoken_text(one.wire.parts):
        return  # the model says it, too
    if thought_text not in one.response.text and thought_text not in shown:
        return
    related = [one.at_wire(thought)]  # for this a long stream is read once for each of its events
    if thought_text in one.response.text:
        part = next((part for part in one.response.parts if isinstance(part, Text) and thought_text in part.text), None)
        place = one.at("parts") if part is None else one.at_part(part, "text")
        yield _IN_RESPONSE(place, observed=one.response.text, thinking=thought_text, related=related)
    if thought_text in shown:
        chunk = next(
            (event for event in one.call.callbacks if isinstance(event, Chunk) and thought_text in event.text), None
        )
        place = one.call.at(Side.CALLBACK) if chunk is None else one.call.at_callback(chunk, "text")
        yield _IN_CHUNKS(place, observed=shown, thinking=thought_text, related=related)


_NOT_ASKED_FOR = finding(
    "thinking/setting-goes-out/missing",
    "The request does not ask for the thinking that is switched on.",
    "a setting that asks for thinking, as in the options {expected}",
    "the settings {observed}",
)


def _began_without_thinking(messages: Sequence[Message]) -> bool:
    """Whether the request goes on with calls that the model made without having thought."""
    if not messages or messages[-1].role != "tool":
        return False
    question_place = next((n for n in reversed(range(len(messages))) if messages[n].role == "user"), -1)
    first = next((message for message in messages[question_place + 1 :] if message.role == "model"), None)
    return first is not None and not any(isinstance(part, Thought) for part in first.parts)


@check("thinking/setting-goes-out")
def setting_goes_out(view: View) -> Findings:
    """What was switched on is asked for, in every request."""
    expected = view.scenario.options.get("thinking")
    if not expected:
        return
    for request in read_requests(view):
        settings = request.wire.settings
        if any(value for name, value in settings.items() if "think" in name or "reason" in name):
            yield Compared("thinking settings")
        elif _began_without_thinking(request.wire.messages):
            continue  # the API refuses the setting until the calls of this answer have come to an end
        else:
            yield _NOT_ASKED_FOR(request.at(), expected=expected, observed=sorted(settings))
