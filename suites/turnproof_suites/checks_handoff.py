"""A conversation that began elsewhere reaches this model whole, in a form that its API takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from turnproof.dialects.atoms import media_key
from turnproof.dialects.wording import without_tagged
from turnproof.messages import (
    JSON,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    ProviderData,
    Text,
    Thought,
    ToolResult,
)
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import Exchange, View
from turnproof.view.diff import equal, show

from .steps import FORGETTING, steps

_FEW_WORDS = 64
"""Characters that may stand beside an attachment that could not go into its result."""


@check("handoff/foreign-history-is-sent")
def foreign_history_is_sent(view: View) -> Findings:
    """Every text, call and result that was said elsewhere is in each request, in order."""
    beside = [text for message in view.scenario.given for text in _beside(message)]
    wanted = _said(view.scenario.given)
    for where, exchange in _requests(view):
        assert exchange.call is not None
        sent = _said(_without_attachments(exchange.call.messages, view.scenario.given), beside)
        at = next((n for n, said in enumerate(wanted) if n >= len(sent) or not _says(sent[n], said)), None)
        if at is None:
            yield "requests with a conversation from elsewhere"
        else:
            found = show(sent[at]) if at < len(sent) else "nothing"
            yield violated(f"{where}: said elsewhere was {show(wanted[at])}, and the request has {found} in its place")


@check("handoff/foreign-ids-stay-linked")
def foreign_ids_stay_linked(view: View) -> Findings:
    """Whatever becomes of the ids: each call has one of its own, and its result has the same."""
    given = [call for message in view.scenario.given for call in message.calls]
    for where, exchange in _requests(view):
        assert exchange.call is not None
        parts = [part for message in exchange.call.messages for part in message.parts]
        calls = [part.id for part in parts if isinstance(part, FunctionCall)][: len(given)]
        results = [part.call_id for part in parts if isinstance(part, ToolResult)][: len(given)]
        refused = next((finding for finding in exchange.refusals), None)
        if refused is not None:
            yield violated(f"{where}: the API refuses the request: {refused['message']}")
        elif len(set(calls)) < len(calls):
            yield violated(f"{where}: two calls from elsewhere share an id: {show(calls)}")
        elif calls != results:
            yield violated(
                f"{where}: the calls from elsewhere have the ids {show(calls)}, their results {show(results)}"
            )
        else:
            yield "requests with linked calls"


@check("handoff/foreign-signatures-are-withheld")
def foreign_signatures_are_withheld(view: View) -> Findings:
    """What another model signed is opaque to this one, which refuses it, or takes it for its own."""
    signatures = set(_foreign_signatures(view.scenario.given, view.dialect.name.partition("@")[0]))
    for where, exchange in _requests(view):
        text = msgspec.json.encode(exchange.body).decode()
        if found := next((one for one in sorted(signatures) if one in text), None):
            yield violated(f"{where}: the signature {show(found)} of another provider's model is in the request")
        elif signatures:
            yield "requests without foreign signatures"


def _requests(view: View) -> Iterator[tuple[str, Exchange]]:
    """The requests for an answer with a conversation from elsewhere, until some of it is forgotten."""
    if not view.scenario.given:
        return
    forgotten = next((step.turn.index for step in steps(view) if step.done in FORGETTING or step.collects), None)
    for call in view.calls:
        if forgotten is not None and call.began.turn >= forgotten:
            return
        for exchange in call.exchanges:
            if exchange.generates and exchange.call is not None:
                yield f"{call.where}, request {exchange.number}", exchange


def _said(messages: Sequence[Message], beside: Sequence[str] = ()) -> list[JSON]:
    """Texts, calls and results in order. Names, ids and the form of results may change; arguments and words may not.

    What was said `beside` the conversation may stand in it as tagged text.
    """
    found: list[JSON] = []
    for message in messages:
        text = message.text
        for one in beside:
            without = without_tagged(text, one)
            text = text if without is None else without
        if text.strip() and message.role != "system":
            found.append({message.role: text.strip()})
        found += [{"call": call.args} for call in message.calls]
        found += ["a result"] * len(message.results)
    return found


def _without_attachments(sent: Sequence[Message], given: Sequence[Message]) -> list[Message]:
    """The messages of a request, less those that say nothing: they show what results have attached, with few words,
    where the API takes text alone in a result."""
    results = (result for message in given for result in message.results)
    attached = {media_key(each) for result in results for each in result.attachments}

    def says_something(message: Message) -> bool:
        shown = [media_key(part) for part in message.parts if isinstance(part, InlineData | FileRef)]
        return not shown or not attached.issuperset(shown) or len(message.text) > _FEW_WORDS

    return [message for message in sent if message.role != "user" or says_something(message)]


def _beside(message: Message) -> list[str]:
    """What the other model thought, and instructions: this API may have no place for them but a text."""
    thoughts = [part.text for part in message.parts if isinstance(part, Thought) and part.text]
    return [message.text, *thoughts] if message.role == "system" else thoughts


def _says(sent: JSON, said: JSON) -> bool:
    """Whether this is what was said; the user may say an instruction in front of it."""
    match sent, said:
        case {"user": str(whole)}, {"user": str(text)}:
            return whole.endswith(text)
    return equal(sent, said)


def _foreign_signatures(messages: tuple[Message, ...], own: str) -> Iterator[str]:
    """What other APIs have signed. A conversation that comes back has signatures of this one too."""
    for message in messages:
        for part in message.parts:
            if isinstance(part.provider_data, ProviderData) and part.provider_data.dialect != own:
                yield from (value for value in part.provider_data.data.values() if isinstance(value, str))


@check("core/instructions-between-turns-are-sent")
def instructions_between_turns_are_sent(view: View) -> Findings:
    """In its place, in whatever role, or at the top: the model has to see it, beside the system text of the call."""
    instructions = [message.text for message in view.scenario.given if message.role == "system"]
    for where, exchange in _requests(view):
        assert exchange.call is not None
        spoken = [message.text for message in exchange.call.messages if message.role in ("system", "user")]
        above = [part.text for part in exchange.call.system if isinstance(part, Text)]
        if missing := [text for text in instructions if not any(text in found for found in (*spoken, *above))]:
            yield violated(f"{where}: the instruction {show(missing[0])} is nowhere in the request")
        elif instructions:
            yield "instructions between turns"
