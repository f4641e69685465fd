"""Core: the answer comes back as the API sent it."""

from __future__ import annotations

from turnproof.errors import ContentFilterError, ContextLimitError
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import ProviderCall, View
from turnproof.messages import FinishReason

from .content import calls_in, part_kinds, spoken_as, spoken_text
from .phrases import EXCEPTION
from .raised_errors import breaks_contract
from .reading import AnsweredCall, answered_calls, by_place

_TEXT_CHANGED = finding(
    "core/text-is-what-the-wire-carried/changed",
    "The adapter returned another text than the API sent.",
    "the text {expected}",
    "{observed}",
)


@check(
    "core/text-is-what-the-wire-carried",
    aspect=lambda view: by_place(view, ((one.call, spoken_text(one.response.parts)) for one in answered_calls(view))),
)
def text_is_what_the_wire_carried(view: View) -> Findings:
    """Every letter of the visible text, and none besides."""
    for one in answered_calls(view):
        sent, observed = spoken_text(one.wire.parts), spoken_as(one.response.parts, one.wire.parts)
        # An adapter may hand structured output over as an object alone.
        if one.call.began.response_schema is not None and not observed:
            continue
        if sent == observed:
            yield Compared("texts of answers")
        else:
            yield _TEXT_CHANGED(
                one.at_text(sent), expected=sent, observed=observed, related=(one.at_wire_text(observed),)
            )


_MODEL_MISSING = finding(
    "core/answering-model-is-named/missing",
    "The response does not name the model that answered, though the API did.",
    "the model {expected}",
    "none",
)
_MODEL_CHANGED = finding(
    "core/answering-model-is-named/other", "The response names another model than the API.", "the model {expected}"
)


@check("core/answering-model-is-named", needs="answer")
def answering_model_is_named(view: View) -> Findings:
    """As the API names it, which is often a dated version of the one that was requested."""
    for one in answered_calls(view):
        sent, observed = one.wire.model, one.response.model
        if not sent:
            continue
        if not observed:
            yield _MODEL_MISSING(one.at("model"), expected=sent, related=(one.at_wire(),))
        elif observed.removeprefix(_GEMINI) != sent.removeprefix(_GEMINI):
            yield _MODEL_CHANGED(one.at("model"), expected=sent, observed=observed, related=(one.at_wire(),))
        else:
            yield Compared("names of models")


_GEMINI = "models/"
"""What Gemini has in front of a name where it lists models, and leaves out of answers."""


_KINDS_MOVED = finding(
    "core/parts-keep-the-models-order/order",
    "The adapter returned text and calls in another order.",
    "the parts {expected}, in this order",
    "{observed}",
)
_CALLS_MOVED = finding(
    "core/parts-keep-the-models-order/order-of-calls",
    "The adapter returned the model's calls in another order.",
    "the calls {expected}, in this order",
    "{observed}",
)


@check("core/parts-keep-the-models-order")
def parts_keep_the_models_order(view: View) -> Findings:
    """The order of text and calls, and of the calls among themselves."""
    for one in answered_calls(view):
        sent, observed = part_kinds(one.wire.parts), part_kinds(one.response.parts)
        if len(sent) < 2 or (sorted(sent) != sorted(observed) and not _only_joins_texts(one)):
            continue  # nothing to order, or something is missing: another requirement's business
        sent_ids = [call.id for call in calls_in(one.wire.parts)]
        got_ids = [call.id for call in calls_in(one.response.parts)]
        if sent != observed:
            yield _KINDS_MOVED(one.at("parts"), expected=sent, observed=observed, related=(one.at_wire(),))
        elif sorted(sent_ids) == sorted(got_ids) and sent_ids != got_ids:
            calls = calls_in(one.response.parts)
            first = next(call for call, id in zip(calls, sent_ids, strict=True) if call.id != id)
            yield _CALLS_MOVED(one.at_part(first), expected=sent_ids, observed=got_ids, related=(one.at_wire(),))
        else:
            yield Compared("orders of parts")


def _only_joins_texts(one: AnsweredCall) -> bool:
    """Whether all calls and all words are there, and texts from both sides of a call have become one."""
    ours, wire = one.response.parts, one.wire.parts
    words = [spoken_text(parts).split() for parts in (ours, wire)]
    return len(calls_in(ours)) == len(calls_in(wire)) and "".join(words[0]) == "".join(words[1])


_ALIKE = frozenset({FinishReason.REFUSAL, FinishReason.SAFETY})


_FINISH_WRONG = finding(
    "core/finish-reason-says-why/wrong",
    "The adapter returned another finish reason than the API's word means.",
    "the finish reason {expected}, since the API sent {word}",
    "{observed}",
)


@check(
    "core/finish-reason-says-why",
    needs="answer",
    aspect=lambda view: by_place(view, ((one.call, str(one.response.finish_reason)) for one in answered_calls(view))),
)
def finish_reason_says_why(view: View) -> Findings:
    """By the dialect's table. Refusal and safety count as the same. OpenAI has a field for refusals and sends the word
    "stop" beside it: an adapter may return either reason."""
    for one in answered_calls(view):
        wire, observed = one.wire.finish, one.response.finish_reason
        if wire is None:
            continue
        if observed in (wire, one.wire.finish_word) or {wire, observed} <= _ALIKE:
            yield Compared("finish reasons")
        else:
            yield _FINISH_WRONG(
                one.at("finish_reason"),
                expected=wire,
                observed=observed,
                related=(one.at_wire(),),
                word=one.wire.raw_finish,
            )


_WORD_CHANGED = finding(
    "core/providers-own-finish-word-is-kept/changed",
    "The API's own word for why the answer ended was changed.",
    "{expected} as `raw_finish`",
    "{observed}",
)


@check("core/providers-own-finish-word-is-kept", needs="answer")
def providers_own_finish_word_is_kept(view: View) -> Findings:
    """`raw_finish` is the word on the wire. A number is no word: a client hands it on, or names it."""
    for one in answered_calls(view):
        if one.wire.raw_finish is None or one.wire.raw_finish.isdecimal():
            continue
        if one.response.raw_finish == one.wire.raw_finish:
            yield Compared("finish words")
        else:
            yield _WORD_CHANGED(
                one.at("raw_finish"),
                expected=one.wire.raw_finish,
                observed=one.response.raw_finish,
                related=(one.at_wire(),),
            )


_GOOD_ANSWER_RAISED = finding(
    "core/a-good-answer-is-returned/raised",
    "The adapter raised an exception for a whole answer.",
    "the answer as the return value",
    EXCEPTION,
)
_NOT_THE_CONTRACT = finding(
    "core/a-good-answer-is-returned/contract",
    "The adapter returned, or passed to a callback, a value of another type than the contract has.",
    "the types of turnproof.provider.StatelessProvider",
    "{observed:words}",
)


@check("core/a-good-answer-is-returned")
def a_good_answer_is_returned(view: View) -> Findings:
    """A whole answer under status 200 is no reason to raise."""
    for call in view.calls:
        wire = call.answer
        if wire is None or call.last is None or call.last.disturbed or wire.broken_calls:
            continue
        if call.failed is None:
            if call.response is not None:
                yield Compared("good answers")
        elif call.failed.from_callback:
            continue  # the session could not go on with it
        elif breaks_contract(call.failed):
            yield _NOT_THE_CONTRACT(
                call.at(Side.ERROR, "message"), observed=call.failed.message, related=(call.at_answer(),)
            )
        elif not _may_raise(call, wire.finish):
            yield _GOOD_ANSWER_RAISED(
                call.at(Side.ERROR, "error"),
                observed=call.failed.message,
                related=(call.at_answer(),),
                error=call.failed.error,
            )


def _may_raise(call: ProviderCall, finish: FinishReason | None) -> bool:
    """A refusal may be raised as the error made for it; a cancelled turn may raise `Cancelled`."""
    assert call.failed is not None
    names = {call.failed.error, *call.failed.bases}
    if "Cancelled" in names:
        return True
    if finish in _ALIKE:
        return ContentFilterError.__name__ in names
    return finish is FinishReason.CONTEXT_LIMIT and ContextLimitError.__name__ in names
