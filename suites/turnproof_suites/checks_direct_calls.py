"""What only a direct call shows: broken histories, and the methods beside `complete()`. No session does either."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.view import ProviderCall, View
from turnproof.judge.view.diff import ABSENT, walk_steps
from turnproof.messages import same_history, to_builtins
from turnproof.run.transcript import CallBegan, HelperCalled

from .reading import broken_rule_finding

_UNTYPED = finding(
    "errors/broken-histories-raise-provider-errors/untyped",
    "A history that the API does not accept ended in an error of another kind.",
    "an answer or a `ProviderError`, for a history with the fault {fault:words}",
    "{observed:words}: {message:words}",
)


def _broken_calls(view: View) -> Iterator[ProviderCall]:
    """The calls that were made with a broken history, as far as they ended."""
    return (call for call in view.probes.get("broken", ()) if call.failed is not None or call.response is not None)


@check("errors/broken-histories-raise-provider-errors", shows=("adopt",))
def broken_histories_raise_provider_errors(view: View) -> Findings:
    """Whoever breaks it, the session gets an answer or the error that it can handle."""
    for call in _broken_calls(view):
        failed = call.failed
        if failed is None or failed.typed:
            yield Compared("calls with a broken history")
        else:
            place = call.at(Side.ERROR, "error")
            yield _UNTYPED.of_error(place, failed, fault=call.began.broken)


_SENT = finding(
    "tools/broken-pairs-are-not-sent/sent",
    "A call without its result, or a result without its call, was sent as it is.",
    "a request that keeps the rule {name:words}, or none, for a history with the fault {fault:words}",
    "one that the API refuses with status {status}, {kind:words}: {observed:words}",
)

PAIRS = ("call-without-result", "result-without-call", "result-given-twice", "result-missing-among-others")
"""What is broken in the pairs of calls and results; what else a probe breaks is no matter of tools."""


@check("tools/broken-pairs-are-not-sent", shows=("adopt",))
def broken_pairs_are_not_sent(view: View) -> Findings:
    """Mended in the request, or refused by the adapter itself."""
    for call in _broken_calls(view):
        if call.began.broken not in PAIRS:
            continue
        refused = [
            broken_rule_finding(_SENT, exchange, refusal, fault=call.began.broken)
            for exchange in call.generated
            for refusal in exchange.refusals
        ]
        yield from findings_or_compared(refused, "histories with broken pairs")


# -- methods beside `complete()` ------------------------------------------------------------------------------------


def _helpers(view: View, method: str) -> Iterator[HelperCalled]:
    return (event for event in view.transcript.of(HelperCalled) if event.method == method)


def _raised(view: View, event: HelperCalled, code: FindingCode) -> Finding:
    return code(view.at_event(event, "error"), observed=event.error, message=event.said)


_COUNT_RAISED = finding(
    "accounting/token-counts-grow-with-the-prompt/raised",
    "`count_tokens()` raised an exception.",
    "a number of tokens",
    "{observed:words}: {message:words}",
)
_NO_COUNT = finding(
    "accounting/token-counts-grow-with-the-prompt/no-count",
    "`count_tokens()` returned something else than a positive number.",
    "a positive integer",
    "{observed}",
)
_COUNT_TOO_SMALL = finding(
    "accounting/token-counts-grow-with-the-prompt/too-small",
    "`count_tokens()` returned no more for a longer prompt.",
    "more than {expected} tokens, as {shorter:words} has",
    "{observed}",
)


@check("accounting/token-counts-grow-with-the-prompt", needs="calls")
def token_counts_grow_with_the_prompt(view: View) -> Findings:
    """A prompt with everything of another one, and something more, has more tokens; system text and tools count."""
    counts: list[tuple[CallBegan, HelperCalled]] = []
    calls = {call.index: call.began for call in view.calls}
    denied = any(one.denied_by_service and one.request.operation == "count_tokens" for one in view.exchanges)
    for event in _helpers(view, "count_tokens"):
        if event.error and denied:
            continue  # a real service that counts no tokens
        if event.error:
            yield _raised(view, event, _COUNT_RAISED)
        elif not isinstance(event.returned, int) or event.returned <= 0:
            yield _NO_COUNT(view.at_event(event, "returned"), observed=event.returned)
        elif event.call in calls:
            counts.append((calls[event.call], event))
    for began, event in counts:
        for other, shorter in counts:
            if isinstance(shorter.returned, int) and _has_more(began, event, other, shorter):
                if isinstance(event.returned, int) and event.returned > shorter.returned:
                    yield Compared("counts of a prompt and a longer one")
                    continue
                yield _COUNT_TOO_SMALL(
                    view.at_event(event, "returned"),
                    expected=shorter.returned,
                    observed=event.returned,
                    related=(view.at_event(shorter, "returned"),),
                    shorter="the prompt without system text and tools" if shorter.alone else "an earlier prompt",
                )


def _has_more(longer: CallBegan, event: HelperCalled, other: CallBegan, shorter: HelperCalled) -> bool:
    """Whether the first prompt is the second one with a message in addition, or with system text and tools."""
    if event.alone:
        return False
    if shorter.alone:
        return longer.call == other.call
    same_frame = (longer.system, longer.tools) == (other.system, other.tools)
    begins = longer.messages[: len(other.messages)]
    return same_frame and len(longer.messages) > len(other.messages) and same_history(begins, other.messages)


_SERIALISE_RAISED = finding(
    "persistence/serialised-history-comes-back/raised",
    "`serialize_history()` or `deserialize_history()` raised an exception.",
    "the messages that were serialised",
    "{observed:words}: {message:words}",
)
_NO_HISTORY = finding(
    "persistence/serialised-history-comes-back/no-messages",
    "`serialize_history()` returned no text, or `deserialize_history()` no messages.",
    "a text, and the messages again",
    "{observed:words}",
)
_MESSAGE_CHANGED = finding(
    "persistence/serialised-history-comes-back/changed",
    "A message comes back changed from `serialize_history()` and `deserialize_history()`.",
)


@check("persistence/serialised-history-comes-back", needs="calls")
def serialised_history_comes_back(view: View) -> Findings:
    """Every message with its id, its parts and what the provider signed, in order."""
    calls = {call.index: call for call in view.calls}
    for event in _helpers(view, "deserialize_history"):
        call = calls.get(event.call)
        if event.error:
            yield _raised(view, event, _SERIALISE_RAISED)
        elif event.returned is not None:
            yield _NO_HISTORY(view.at_event(event, "returned"), observed=event.returned)
        elif call is not None:
            session_messages, loaded = to_builtins(call.began.messages), to_builtins(event.messages)
            differing = list(walk_steps(session_messages, loaded))
            for steps, before, now in differing:
                yield _MESSAGE_CHANGED(
                    view.at_event(event, "messages", *steps),
                    expected=UNSET if before is ABSENT else before,
                    observed=UNSET if now is ABSENT else now,
                    related=(call.at(Side.HISTORY, *steps),),
                )
            if not differing:
                yield Compared("histories that were serialised")
