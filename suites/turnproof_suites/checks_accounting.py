"""Accounting: tokens are counted once, by one identity, and every figure that the wire gave is kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import ProviderCall, View
from turnproof.messages import JSON, TokenUsage

from .reading import AnsweredCall, answered_calls, by_place, usage_updates


def _counted_answers(view: View) -> Iterator[tuple[AnsweredCall, TokenUsage]]:
    """Calls that were answered and whose tokens the wire counted, with those."""
    return ((one, _counted_usage(one, one.wire.usage)) for one in answered_calls(view) if one.wire.usage is not None)


def _counted_usage(one: AnsweredCall, last: TokenUsage) -> TokenUsage:
    """The wire's figures: those of the last answer, or of all that the call got where it reports their sum. An adapter
    that asks the model again within a call has paid for each answer."""
    answers = [exchange.answer.usage for exchange in one.call.generated if exchange.clean and exchange.answer]
    figures = [usage for usage in answers if usage is not None]
    if len(figures) < 2:
        return last
    names = TokenUsage.__struct_fields__
    total = TokenUsage(**{name: sum(getattr(usage, name) for usage in figures) for name in names})
    own = one.response.usage
    is_sum = (own.prompt_tokens, own.output_tokens) == (total.prompt_tokens, total.output_tokens)
    return total if is_sum else last


def _figures(usage: TokenUsage) -> dict[str, int]:
    return {field: getattr(usage, field) for field in usage.__struct_fields__}


def _lower_figures(before: TokenUsage, after: TokenUsage) -> Iterator[tuple[str, int, int]]:
    """The figures that are lower afterwards: name, figure before, figure after."""
    first, second = _figures(before), _figures(after)
    return ((name, value, second[name]) for name, value in first.items() if second[name] < value)


_PROMPT_COUNT = finding(
    "accounting/prompt-counts-everything/wrong-count",
    "The response has another number of prompt tokens than the wire's figures make.",
    "{expected} prompt tokens",
    "{observed}, where the wire has the usage {usage}",
)


@check("accounting/prompt-counts-everything", needs="usage", aspect=lambda view: by_place(view, _deviations(view)))
def prompt_counts_everything(view: View) -> Findings:
    """Fresh, read from the cache and written to it."""
    for one, wire in _counted_answers(view):
        yield _counted(_PROMPT_COUNT, one, wire, "prompt_tokens", usage=wire)


def _counted(code: FindingCode, one: AnsweredCall, wire: TokenUsage, name: str, **facts: Any) -> Compared | Finding:
    """The same figure of the response and of the wire, compared."""
    sent, observed = getattr(wire, name), getattr(one.response.usage, name)
    if sent == observed:
        return Compared(name.replace("_", " "))
    return code(one.at("usage", name), expected=sent, observed=observed, related=(one.at_wire(),), **facts)


def _deviations(view: View) -> list[tuple[ProviderCall, JSON]]:
    """What each response says more or less than the wire: whether both paths asked the same is judged elsewhere."""
    return [
        (
            one.call,
            {name: value - getattr(wire, name) for name, value in _figures(one.response.usage).items()},
        )
        for one, wire in _counted_answers(view)
    ]


_OUTPUT_COUNT = finding(
    "accounting/output-is-what-the-wire-says/wrong-count",
    "The response has another number of output tokens than the wire.",
    "{expected} output tokens",
)


@check("accounting/output-is-what-the-wire-says", needs="usage")
def output_is_what_the_wire_says(view: View) -> Findings:
    """The final figure, not the one that a stream starts with, nor the sum of both."""
    for one, wire in _counted_answers(view):
        yield _counted(_OUTPUT_COUNT, one, wire, "output_tokens")


_WRONG_SUM = finding(
    "accounting/total-is-prompt-plus-output/wrong-sum",
    "The total of tokens is not the sum of prompt and output.",
    "{expected} total tokens for {prompt} prompt and {output} output tokens",
)


@check("accounting/total-is-prompt-plus-output", needs="usage")
def total_is_prompt_plus_output(view: View) -> Findings:
    """For every response, a cancelled one too."""
    for call in view.calls:
        usage = call.response.usage if call.response is not None else None
        if usage is None or not any(_figures(usage).values()):
            continue
        if usage.total_tokens == usage.prompt_tokens + usage.output_tokens:
            yield Compared("totals")
        else:
            yield _WRONG_SUM(
                call.at(Side.RESPONSE, "usage", "total_tokens"),
                expected=usage.prompt_tokens + usage.output_tokens,
                observed=usage.total_tokens,
                prompt=usage.prompt_tokens,
                output=usage.output_tokens,
            )


_CACHE_COUNT = finding(
    "accounting/cache-figures-are-kept/wrong-count",
    "The response has another cache figure than the wire.",
    "{expected} as `{field:words}`",
)


@check("accounting/cache-figures-are-kept", needs="usage")
def cache_figures_are_kept(view: View) -> Findings:
    """What the cache served and stored, in a stream too, and once."""
    for one, wire in _counted_answers(view):
        if not (wire.cache_read_tokens or wire.cache_creation_tokens):
            continue
        own = _figures(one.response.usage)
        expected = {"cache_read_tokens": wire.cache_read_tokens, "cache_creation_tokens": wire.cache_creation_tokens}
        wrong = [name for name, figure in expected.items() if own[name] != figure]
        for name in wrong:
            yield _CACHE_COUNT(
                one.at("usage", name), expected=expected[name], observed=own[name], related=(one.at_wire(),), field=name
            )
        if not wrong:
            yield Compared("cache figures")


_THINKING_COUNT = finding(
    "accounting/thinking-tokens-are-kept/wrong-count",
    "The response has another number of thinking tokens than the wire.",
    "{expected} thinking tokens",
)


@check("accounting/thinking-tokens-are-kept", needs="usage")
def thinking_tokens_are_kept(view: View) -> Findings:
    """Where the wire counts them by themselves."""
    for one, wire in _counted_answers(view):
        if not wire.thinking_tokens:
            continue
        yield _counted(_THINKING_COUNT, one, wire, "thinking_tokens")


_UPDATE_FELL = finding(
    "accounting/updates-never-fall/fell",
    "A figure of a usage update is lower than in the update before.",
    "at least {expected} as `{field:words}`",
)


@check("accounting/updates-never-fall", shows=("shows_usage",), callbacks=("on_usage_update",))
def updates_never_fall(view: View) -> Findings:
    """Updates are cumulative: no figure of a later one is lower, unless the service's own figures fell."""
    for call in view.calls:
        updates = usage_updates(call)
        if len(updates) == 1:
            yield Compared("usage updates")  # the contract asks for no second one
        for before, after in pairwise(updates):
            fallen = _fallen(call, before.usage, after.usage)
            for name, figure, lower in fallen:
                yield _UPDATE_FELL(
                    call.at_callback(after, "usage", name),
                    expected=figure,
                    observed=lower,
                    related=(call.at_callback(before, "usage", name),),
                    field=name,
                )
            if not fallen:
                yield Compared("usage updates")


_BELOW_LAST_UPDATE = finding(
    "accounting/response-has-the-last-update/lower",
    "A figure of the response is lower than in the last usage update.",
    "at least {expected} as `{field:words}`",
)


@check(
    "accounting/response-has-the-last-update", needs="answer", shows=("shows_usage",), callbacks=("on_usage_update",)
)
def response_has_the_last_update(view: View) -> Findings:
    """What was reported on the way is not taken back at the end, unless the service itself takes it back."""
    for call in view.calls:
        updates = usage_updates(call)
        if not updates or call.response is None:
            continue
        fallen = _fallen(call, updates[-1].usage, call.response.usage)
        for name, figure, lower in fallen:
            yield _BELOW_LAST_UPDATE(
                call.at(Side.RESPONSE, "usage", name),
                expected=figure,
                observed=lower,
                related=(call.at_callback(updates[-1], "usage", name),),
                field=name,
            )
        if not fallen:
            yield Compared("last updates")


def _fallen(call: ProviderCall, before: TokenUsage, after: TokenUsage) -> list[tuple[str, int, int]]:
    """The figures that are lower than before, but for those that the answer on the wire ends with.

    Anthropic's figures fall where the service made the prompt shorter on the way: its last usage leaves out what the
    compaction took (recorded: 55,196 prompt tokens at the start, 181 at the end).
    """
    usage = call.answer.usage if call.answer is not None else None
    last = _figures(usage) if usage is not None else {}
    return [one for one in _lower_figures(before, after) if last.get(one[0]) != one[2]]


_NEVER_TOLD = finding(
    "accounting/updates-are-told/never",
    "No usage update came, though the stream had figures.",
    "at least one call of `on_usage_update`, for an answer with the usage {usage}",
    "none",
)
_ZEROS = finding(
    "accounting/updates-are-told/zeros",
    "The last usage update has no tokens, though the stream had figures.",
    "figures, for an answer with the usage {usage}",
    "{observed}",
)


@check("accounting/updates-are-told", shows=("shows_usage",))
def updates_are_told(view: View) -> Findings:
    """While an answer streams, or at its end: once at least, with what the wire has."""
    for one, wire in _counted_answers(view):
        if not one.call.began.streamed or not wire.total_tokens or not one.call.knows_callbacks:
            continue
        updates = usage_updates(one.call)
        if not updates:
            yield _NEVER_TOLD(one.call.at(Side.CALLBACK), related=(one.at_usage(),), usage=wire)
        elif not updates[-1].usage.total_tokens:
            place = one.call.at_callback(updates[-1], "usage")
            yield _ZEROS(place, observed=updates[-1].usage, related=(one.at_usage(),), usage=wire)
        else:
            yield Compared("streams with usage")


_EARLIER_CALLS_ADDED = finding(
    "accounting/each-call-counts-for-itself/earlier-calls-added",
    "The prompt tokens of a response include those of earlier calls a second time.",
    "{expected} prompt tokens",
    "{observed}, the sum with {earlier} of the earlier calls",
)


@check("accounting/each-call-counts-for-itself", needs="usage")
def each_call_counts_for_itself(view: View) -> Findings:
    """A later call's prompt holds the earlier ones already; adding them up counts them twice."""
    answered = {one.call.index: one for one in answered_calls(view)}
    total = 0
    for call in view.calls:
        wire = call.answer.usage if call.answer is not None else None
        if wire is None:
            continue
        own, one = wire.prompt_tokens, answered.get(call.index)
        observed = one.response.usage.prompt_tokens if one is not None else None
        if one is not None and total and own and observed == own + total:
            yield _EARLIER_CALLS_ADDED(
                one.at("usage", "prompt_tokens"),
                expected=own,
                observed=observed,
                related=(one.at_wire(),),
                earlier=total,
            )
        elif one is not None and total:
            yield Compared("later calls")
        if one is not None or not view.shows_calls:
            total += own
