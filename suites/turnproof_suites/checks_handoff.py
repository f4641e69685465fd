"""A conversation that began elsewhere reaches this model whole, in a form that its API takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from turnproof.dialects.text_calls import with_native_calls
from turnproof.dialects.text_equality import without_tagged
from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import Findings, check, finding, findings_or_compared
from turnproof.judge.view import Exchange, View
from turnproof.judge.view.diff import equal
from turnproof.messages import JSON, FunctionCall, Message, ProviderData, Text, Thought, ToolResult

from .content import attached_to_results, shows_attachments
from .context_room import outgrew_window
from .reading import at_text, refusal_finding
from .steps import FORGETTING, steps
from .words import without_blanks

_Origin: TypeAlias = Message | FunctionCall | ToolResult
"""What says something in a conversation: a message by its text, or a part of one."""

_HISTORY_CHANGED = finding(
    "handoff/foreign-history-is-sent/changed",
    "The request does not have the messages of the earlier conversation in their order.",
)


@check("handoff/foreign-history-is-sent")
def foreign_history_is_sent(view: View) -> Findings:
    """Every text, call and result that was said elsewhere is in each request, in order."""
    asides = [text for message in view.scenario.given for text in _optional_texts(message)]
    instructions = {without_blanks(message.text) for message in view.scenario.given if message.role == "system"}
    expected = [content for content, _ in _content_with_origins(view.scenario.given)]
    for exchange in _requests(view):
        assert exchange.call is not None
        messages = with_native_calls(view.scenario.given, exchange.call.messages)
        sent = _content_with_origins(_without_attachments(messages, view.scenario.given), asides)
        left = iter(sent)
        for content in expected:
            found, origin = next(left, (UNSET, None))
            while not _is_same_content(found, content) and _is_instruction(found, instructions):
                found, origin = next(left, (UNSET, None))
            if not _is_same_content(found, content):
                # Behind the first place that differs nothing can be told from what was moved.
                yield _HISTORY_CHANGED(_at_origin(exchange, origin), expected=content, observed=found)
                break
        else:
            yield Compared("requests with a conversation from elsewhere")


_REFUSED = finding(
    "handoff/foreign-ids-stay-linked/refused",
    "The API refuses the request with the calls from elsewhere.",
    "a request that the API accepts",
    "a request that it refuses: {message:words}",
)
_SHARED_ID = finding(
    "handoff/foreign-ids-stay-linked/shared",
    "Two calls from elsewhere have the same id in the request.",
    "an id that no call before has",
    "{observed} again",
)
_UNLINKED = finding(
    "handoff/foreign-ids-stay-linked/unlinked",
    "The results from elsewhere do not have the ids of their calls.",
    "a result with the id {expected}",
)


@check("handoff/foreign-ids-stay-linked")
def foreign_ids_stay_linked(view: View) -> Findings:
    """Whatever becomes of the ids: each call has one of its own, and its result has the same."""
    foreign_calls = [call for message in view.scenario.given for call in message.calls]
    for exchange in _requests(view):
        wrong = [
            refusal_finding(_REFUSED, exchange, refusal, message=refusal["message"]) for refusal in exchange.refusals
        ]
        wrong = wrong or list(_badly_linked(exchange, len(foreign_calls)))
        yield from findings_or_compared(wrong, "requests with linked calls")


def _badly_linked(exchange: Exchange, count: int) -> Iterator[Finding]:
    """What is wrong with the ids of the first calls and results of a request."""
    assert exchange.call is not None
    parts = [part for message in exchange.call.messages for part in message.parts]
    calls = [part for part in parts if isinstance(part, FunctionCall)][:count]
    results = [part for part in parts if isinstance(part, ToolResult)][:count]
    first: dict[str, FunctionCall] = {}
    for call in calls:
        if first.setdefault(call.id, call) is not call:
            related = [_at_origin(exchange, first[call.id], "id")]
            yield _SHARED_ID(_at_origin(exchange, call, "id"), observed=call.id, related=related)
    for one, result in zip_longest(calls, results):
        if one is None or result is None or one.id != result.call_id:
            yield _UNLINKED(
                _at_origin(exchange, result, *(["call_id"] if result is not None else [])),
                expected=UNSET if one is None else one.id,
                observed=UNSET if result is None else result.call_id,
                related=[] if one is None else [_at_origin(exchange, one, "id")],
            )


_SIGNATURE_SENT = finding(
    "handoff/foreign-signatures-are-withheld/sent",
    "The request has the signature of another provider's model.",
    "a request without it",
)


@check("handoff/foreign-signatures-are-withheld")
def foreign_signatures_are_withheld(view: View) -> Findings:
    """What another model signed is opaque to this one, which refuses it, or takes it for its own."""
    signatures = sorted(set(_foreign_signatures(view.scenario.given, view.dialect.name.partition("@")[0])))
    for exchange in _requests(view):
        text = msgspec.json.encode(exchange.body).decode()
        found = [one for one in signatures if one in text]
        for signature in found:
            yield _SIGNATURE_SENT(at_text(exchange, signature), observed=signature)
        if signatures and not found:
            yield Compared("requests without foreign signatures")


def _requests(view: View) -> Iterator[Exchange]:
    """The requests for an answer with a conversation from elsewhere, until some of it is forgotten."""
    if not view.scenario.given:
        return
    steps_back = (step.turn.index for step in steps(view) if step.kind in FORGETTING or step.collects)
    forgotten = min((*steps_back, *(turn.index for turn in view.turns if turn.rewritten)), default=None)
    for call in view.calls:
        if (forgotten is not None and call.began.turn >= forgotten) or outgrew_window(view, view.scenario.given, call):
            return
        for exchange in call.exchanges:
            if exchange.generates and exchange.call is not None:
                yield exchange


def _content_with_origins(messages: Sequence[Message], asides: Sequence[str] = ()) -> list[tuple[JSON, _Origin]]:
    """Texts, calls and results in order, each with where it stands. Names, ids and the form of results may change;
    arguments and words may not.

    What was said `asides` the conversation may stand in it as tagged text.
    """
    found: list[tuple[JSON, _Origin]] = []
    for message in messages:
        text = message.text
        for one in asides:
            without = without_tagged(text, one)
            text = text if without is None else without
        if text.strip() and message.role != "system":
            found.append(({message.role: text.strip()}, message))
        found += [({"call": call.args}, call) for call in message.calls]
        found += [("a result", result) for result in message.results]
    return found


def _at_origin(exchange: Exchange, origin: _Origin | None, *field: str) -> Place:
    """The place in a request's body of a message, of a part, or of a field of it; of all messages for None."""
    for number, message in enumerate(exchange.call.messages if exchange.call is not None else ()):
        if message is origin:
            return exchange.at_read("messages", number)
        for place, part in enumerate(message.parts):
            if part is origin:
                return exchange.at_read("messages", number, "parts", place, *field)
    return exchange.at_read("messages")


def _without_attachments(sent: Sequence[Message], scenario_messages: Sequence[Message]) -> list[Message]:
    """The messages of a request, less those that say nothing: they show what results have attached, with few words,
    where the API takes text alone in a result."""
    attached = attached_to_results(scenario_messages)
    return [message for message in sent if not shows_attachments(message, attached)]


def _optional_texts(message: Message) -> list[str]:
    """What the other model thought, and instructions: this API may have no place for them but a text."""
    thoughts = [part.text for part in message.parts if isinstance(part, Thought) and part.text]
    return [message.text, *thoughts] if message.role == "system" else thoughts


def _is_same_content(sent: JSON | UnsetType, content: JSON) -> bool:
    """Whether this is what was said; the user may say an instruction in front of it."""
    match sent, content:
        case {"user": str(whole)}, {"user": str(text)}:
            return whole.endswith(text)
    return equal(sent, content)


def _is_instruction(sent: JSON | UnsetType, instructions: Collection[str]) -> bool:
    """Whether this is an instruction between turns, by itself in the user's name."""
    match sent:
        case {"user": str(text)}:
            return without_blanks(text) in instructions
    return False


def _foreign_signatures(messages: tuple[Message, ...], own: str) -> Iterator[str]:
    """What other APIs have signed. A conversation that comes back has signatures of this one too."""
    for message in messages:
        for part in message.parts:
            if isinstance(part.provider_data, ProviderData) and part.provider_data.dialect != own:
                yield from (value for value in part.provider_data.data.values() if isinstance(value, str))


_INSTRUCTION_MISSING = finding(
    "core/instructions-between-turns-are-sent/missing",
    "An instruction between turns is missing from the request.",
    "the instruction {expected}",
    "the texts {observed}",
)


@check("core/instructions-between-turns-are-sent")
def instructions_between_turns_are_sent(view: View) -> Findings:
    """In its place, in whatever role, or at the top: the model has to see it, beside the system text of the call."""
    instructions = [message.text for message in view.scenario.given if message.role == "system"]
    for exchange in _requests(view):
        assert exchange.call is not None
        texts = [message.text for message in exchange.call.messages if message.role in ("system", "user")]
        above = [part.text for part in exchange.call.system if isinstance(part, Text)]
        words = [without_blanks(found) for found in (*texts, *above)]
        missing = [text for text in instructions if not any(without_blanks(text) in found for found in words)]
        for text in missing:
            yield _INSTRUCTION_MISSING(exchange.at_read("messages"), expected=text, observed=[*above, *texts])
        if instructions and not missing:
            yield Compared("instructions between turns")
