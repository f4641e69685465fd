"""`turnproof census`: asks a real service for each rule whether it refuses what the rule says."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from ... import __version__
from ..._base.counts import counted
from ..._base.loopback import is_loopback
from ..._base.printable import one_line
from ..._base.secrets import environment_secrets, mask
from ...dialects import api_of, dialect
from ...dialects.access import access_to
from ...dialects.asked_settings import output_limits
from ...dialects.contract import Dialect
from ...errors import ServiceError, UsageError
from ...tokens import json_tokens
from ...wire.cassettes.cost import DEFAULT_MAX_OUTPUT, price_of
from ...wire.cassettes.recording_proxy import ProxyTarget
from .observation import Observation, ShortAnswer, read_observations
from .pairs import PlainRequest, RulePair, pairs_of, selected

_MILLION: Final = 1_000_000
_LONGEST_MESSAGE: Final = 500
_PRIVATE: Final = re.compile(r"\b(org|proj|req|user|acct|resp|msg|chatcmpl)[-_][A-Za-z0-9-]{6,}")
"""Ids in messages that say who asked, or when."""
_COUNTS: Final = ("count_tokens", ":countTokens", "input_tokens")
"""How the addresses end at which tokens are counted, which costs nothing."""
_GIVEN_UP: Final = (401, 403)


@dataclass(frozen=True, slots=True)
class CensusOptions:
    """Which service is asked, by whom, and what it may cost. `prices` are US dollars a million tokens, in and out."""

    dialect: str
    out: Path
    live: bool = False
    only: tuple[str, ...] = ()
    model: str | None = None
    contributor: str = "anonymous"
    max_cost: float = 0.10
    prices: tuple[float, float] | None = None


def census(options: CensusOptions, out: Callable[[str], None]) -> int:
    """Show what would be sent, and with `live` send it; how many rules were asked.

    A rule that the file at `options.out` has already is not asked again, and none that would go over the budget. Raises
    UsageError where there is no key or no known price, and where nobody listens.
    """
    wire = dialect(options.dialect)
    pairs = [_with_model(pair, options.model) for pair in selected(options.dialect, options.only)]
    done = {(one.rule, one.variant) for one in read_observations(options.out)} if options.out.exists() else set()
    waiting = [pair for pair in pairs if (_rule_id(wire, pair), pair.variant) not in done]
    skipped = pairs_of(api_of(options.dialect)).left_out
    out(f"{counted(len(waiting), 'pair')} to ask of {len(pairs)}; {len(skipped)} are not sent:")
    for reason, number in sorted(Counter(skipped.values()).items()):
        out(f"  {number}: {reason}")
    if not options.live:
        out("nothing was sent: --live asks the service")
        return 0
    access = access_to(wire, f"the census of {options.dialect!r}")
    target = ProxyTarget(access.base_url.rstrip("/").removesuffix(wire.service.base_path), access.key, wire)
    chosen = _affordable(options, waiting, target.host, out)
    target.check_presence()
    return asyncio.run(_ask_all(options, wire, target, chosen, out))


def _with_model(pair: RulePair, model: str | None) -> RulePair:
    """The pair for another model; a pair that is about the model keeps its own."""
    if model is None or pair.illegal.model != pair.legal.model:
        return pair
    return msgspec.structs.replace(pair, illegal=pair.illegal.with_model(model), legal=pair.legal.with_model(model))


def _rule_id(wire: Dialect, pair: RulePair) -> str:
    return f"{api_of(wire.name)}/{pair.rule}"


# -- what it costs -----------------------------------------------------------------------------------------------------


def _affordable(
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


# -- asking ------------------------------------------------------------------------------------------------------------


async def _ask_all(
    options: CensusOptions, wire: Dialect, target: ProxyTarget, pairs: Sequence[RulePair], out: Callable[[str], None]
) -> int:
    options.out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with options.out.open("ab") as file:
        async with target:
            for pair in pairs:
                found = await _ask(options, wire, target, pair)
                if found.legal.status in _GIVEN_UP:
                    raise UsageError(
                        f"{target.host} does not take the key ({found.legal.status}): {found.legal.message:.200}"
                    )
                file.write(msgspec.json.encode(found) + b"\n")
                file.flush()
                count += 1
                out(one_line(f"{found.agreement}: {pair.id}: {found.illegal.status} {found.illegal.message:.100}"))
    return count


async def _ask(options: CensusOptions, wire: Dialect, target: ProxyTarget, pair: RulePair) -> Observation:
    illegal = await _short_answer(wire, target, pair.illegal)
    legal = await _short_answer(wire, target, pair.legal)
    return Observation(
        turnproof=__version__,
        dialect=options.dialect,
        rule=_rule_id(wire, pair),
        variant=pair.variant,
        day=datetime.now(UTC).date().isoformat(),
        host=target.host,
        loopback=is_loopback(target.host),
        contributor=options.contributor,
        model=pair.legal.model_asked,
        illegal=illegal,
        legal=legal,
    )


async def _short_answer(wire: Dialect, target: ProxyTarget, request: PlainRequest) -> ShortAnswer:
    try:
        answer = await target.forward(request.as_http())
        body = b"".join([chunk async for chunk in answer.chunks])
    except ServiceError as error:
        return ShortAnswer(0, "unreachable", mask(str(error), target.secrets)[:_LONGEST_MESSAGE])
    read = wire.read_response(answer.status, answer.headers, body)
    return ShortAnswer(answer.status, read.error_kind or "", _scrubbed(read.error_message or "", target))


def _scrubbed(message: str, target: ProxyTarget) -> str:
    """The service's words without keys, and without ids of who asked."""
    text = mask(message, (*target.secrets, *environment_secrets()))
    return _PRIVATE.sub(r"\1-…", text)[:_LONGEST_MESSAGE]
