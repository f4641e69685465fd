"""What a census costs at most, and which pairs a budget allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..._base.counts import counted
from ..._base.loopback import is_loopback
from ...dialects import api_of
from ...dialects.asked_settings import output_limits
from ...errors import UsageError
from ...tokens import json_tokens
from ...wire.cassettes.cost import DEFAULT_MAX_OUTPUT, price_of
from .options import CensusOptions
from .pairs import PlainRequest, RulePair

_MILLION: Final = 1_000_000
_COUNTS: Final = ("count_tokens", ":countTokens", "input_tokens")
"""How the addresses end at which tokens are counted, which costs nothing."""


def affordable(
    options: CensusOptions, pairs: Sequence[RulePair], host: str, out: Callable[[str], None]
) -> list[RulePair]:
    """The pairs that can be asked within the budget, the cheapest first where it does not reach for all. Both requests
    count with the longest answer that they can have: a service may take the illegal one. Raises UsageError for a budget
    that is none."""
    if not options.max_cost >= 0:  # also refuses NaN
        raise UsageError(f"--max-cost must be an amount in US dollars, got {options.max_cost!r}")
    if is_loopback(host):
        return list(pairs)
    costs = {id(pair): _cost_of_pair(options, pair) for pair in pairs}
    chosen, most = set[int](), 0.0
    for pair in sorted(pairs, key=lambda one: costs[id(one)]):
        if most + costs[id(pair)] <= options.max_cost:
            most += costs[id(pair)]
            chosen.add(id(pair))
    out(f"{counted(len(chosen), 'pair')} cost at most ${most:.3f}, with every refused request billed")
    unpriced = sum(math.isinf(cost) for cost in costs.values())
    if unpriced:
        out(f"  {unpriced}: no price is known for the model (--price)")
    if len(chosen) + unpriced < len(pairs):
        out(f"  {len(pairs) - len(chosen) - unpriced}: over the budget of ${options.max_cost:.2f} (--max-cost)")
    return [pair for pair in pairs if id(pair) in chosen]


def _cost_of_pair(options: CensusOptions, pair: RulePair) -> float:
    """What both requests cost at most; infinite where the pair names a model that has no known price."""
    usual = pair.legal.model_asked
    try:
        return _cost(options, pair.illegal, usual) + _cost(options, pair.legal, usual)
    except UsageError:
        if usual == options.model:
            raise
        return math.inf


def _cost(options: CensusOptions, request: PlainRequest, usual_model: str) -> float:
    """What a request costs at most, if the service answers it; one that asks no model costs nothing. The illegal one of
    a pair may name a model that there is not."""
    model = usual_model or request.model_asked
    if not model or not request.body or request.path.endswith(_COUNTS):
        return 0.0
    body = request.json if isinstance(request.json, dict) else {}
    room = _room(body)
    if options.prices is not None:
        price_in, price_out = options.prices
    else:
        price = price_of(api_of(options.dialect), model)
        price_in, price_out = price.input, price.output
    return (json_tokens(body) * price_in + room * price_out) / _MILLION


def _room(body: Mapping[str, Any]) -> int:
    """How many tokens an answer to this request can have: those that a setting allows."""
    limits = [value for value in output_limits(body).values() if isinstance(value, int)]
    return min((max(one, 1) for one in limits), default=DEFAULT_MAX_OUTPUT)
