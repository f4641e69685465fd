"""Accounting: tokens are counted once, by one identity, and every figure that the wire gave is kept."""

from __future__ import annotations

from itertools import pairwise

from turnproof.messages import JSON, TokenUsage
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import ProviderCall, View

from .reading import answered, by_place


def _figures(usage: TokenUsage) -> dict[str, int]:
    return {field: getattr(usage, field) for field in usage.__struct_fields__}


def _fallen(before: TokenUsage, after: TokenUsage) -> str | None:
    """The first figure that is lower afterwards."""
    first, second = _figures(before), _figures(after)
    return next((name for name, value in first.items() if second[name] < value), None)


@check(
    "accounting/prompt-counts-everything",
    aspect=lambda view: by_place(view, _deviations(view)),
)
def prompt_counts_everything(view: View) -> Findings:
    """Fresh, read from the cache and written to it."""
    for one in answered(view):
        if one.wire.usage is None:
            continue
        sent, got = one.wire.usage.prompt_tokens, one.response.usage.prompt_tokens
        if sent == got:
            yield "prompt tokens"
        else:
            yield violated(
                f"{one.where}: the wire's figures make {sent} prompt tokens ({one.wire.usage}), the response says {got}"
            )


def _deviations(view: View) -> list[tuple[ProviderCall, JSON]]:
    """What each response says more or less than the wire: whether both paths asked the same is judged elsewhere."""
    return [
        (
            one.call,
            {name: value - getattr(one.wire.usage, name) for name, value in _figures(one.response.usage).items()},
        )
        for one in answered(view)
        if one.wire.usage is not None
    ]


@check("accounting/output-is-what-the-wire-says")
def output_is_what_the_wire_says(view: View) -> Findings:
    """The final figure, not the one that a stream starts with, nor the sum of both."""
    for one in answered(view):
        if one.wire.usage is None:
            continue
        sent, got = one.wire.usage.output_tokens, one.response.usage.output_tokens
        if sent == got:
            yield "output tokens"
        else:
            yield violated(f"{one.where}: the wire said {sent} output tokens, the response says {got}")


@check("accounting/total-is-prompt-plus-output")
def total_is_prompt_plus_output(view: View) -> Findings:
    """For every response, a cancelled one too."""
    for call in view.calls:
        usage = call.response.usage if call.response is not None else None
        if usage is None or not any(_figures(usage).values()):
            continue
        if usage.total_tokens == usage.prompt_tokens + usage.output_tokens:
            yield "totals"
        else:
            yield violated(f"{call.where}: {usage.prompt_tokens} + {usage.output_tokens} is not {usage.total_tokens}")


@check("accounting/cache-figures-are-kept")
def cache_figures_are_kept(view: View) -> Findings:
    """What the cache served and stored, in a stream too, and once."""
    for one in answered(view):
        wire, got = one.wire.usage, one.response.usage
        if wire is None or not (wire.cache_read_tokens or wire.cache_creation_tokens):
            continue
        sent = wire.cache_read_tokens, wire.cache_creation_tokens
        if sent == (got.cache_read_tokens, got.cache_creation_tokens):
            yield "cache figures"
        else:
            yield violated(
                f"{one.where}: the wire said {sent[0]} read and {sent[1]} written, "
                f"the response {got.cache_read_tokens} and {got.cache_creation_tokens}"
            )


@check("accounting/updates-never-fall")
def updates_never_fall(view: View) -> Findings:
    """Updates are cumulative: no figure of a later one is lower."""
    for call in view.calls:
        for before, after in pairwise(call.usages):
            fallen = _fallen(before, after)
            if fallen is not None:
                yield violated(
                    f"{call.where}: {fallen} fell from {getattr(before, fallen)} to {getattr(after, fallen)}"
                )
            else:
                yield "usage updates"


@check("accounting/response-has-the-last-update")
def response_has_the_last_update(view: View) -> Findings:
    """What was reported on the way is not taken back at the end."""
    for call in view.calls:
        if not call.usages or call.response is None:
            continue
        fallen = _fallen(call.usages[-1], call.response.usage)
        if fallen is not None:
            last, final = getattr(call.usages[-1], fallen), getattr(call.response.usage, fallen)
            yield violated(f"{call.where}: the last update said {last} {fallen}, the response says {final}")
        else:
            yield "last updates"


@check("accounting/each-call-counts-for-itself")
def each_call_counts_for_itself(view: View) -> Findings:
    """A later call's prompt holds the earlier ones already; adding them up counts them twice."""
    spent = 0
    for one in answered(view):
        if one.wire.usage is None:
            continue
        own, got = one.wire.usage.prompt_tokens, one.response.usage.prompt_tokens
        if spent and own and got == own + spent:
            yield violated(f"{one.where}: the call took {own} prompt tokens, the response adds the earlier {spent}")
        elif spent:
            yield "later calls"
        spent += own
