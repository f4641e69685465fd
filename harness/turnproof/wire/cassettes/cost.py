"""What a live recording will cost, before the first request of it is sent.

Two figures: what it costs if the model answers about as long as the script does, and the most it can cost if every
answer fills its room. The budget is held against the second. Nothing is deducted for what a prompt cache may serve;
every token of a caching scenario is priced as written to the cache.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

from ..._base.counts import counted
from ...errors import UsageError
from ...scenarios.model import Scenario, ScriptRound, Turn
from ...tokens import json_tokens, part_tokens, text_tokens, tool_tokens

DEFAULT_MAX_OUTPUT = 8192
"""Room for an answer, in tokens, where a scenario's `max_tokens` does not say otherwise."""

_MILLION = 1_000_000
_DEAREST = (1.25, 2.0, 1.0)
"""Factors of a price that the user gave: the dearest known for writing to a cache, and nothing off for reading."""
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens of a model; the factors are of the input price."""

    input: float
    output: float
    write_5m: float
    write_1h: float
    read: float
    date: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a recording will take. Tokens and `usd` go by the script, `ceiling_usd` by the room for each answer."""

    requests: int
    prompt_tokens: int
    output_tokens: int
    usd: float
    ceiling_usd: float
    prices_of: str

    def __str__(self) -> str:
        return (
            f"{counted(self.requests, 'request')}, about {self.prompt_tokens:,} tokens in and "
            f"{self.output_tokens:,} out: "
            f"about ${self.usd:.2f}, at most ${self.ceiling_usd:.2f} (list prices of {self.prices_of})"
        )


def price_of(dialect: str, model: str) -> Price:
    """The list price of a model, also under its dated id. Raises UsageError for one that has none."""
    table = _prices()
    # What a surface bills is another matter than what its API's first service does.
    dialect = dialect.removesuffix("@openai")
    models: Mapping[str, Any] = table["models"].get(dialect, {})
    found = models.get(model) or models.get(_DATED.sub("", model))
    if found is None:
        near = get_close_matches(model, models, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"no price is known for model {model!r} of {dialect} (prices of {table['date']}){hint}. "
            "--price IN OUT gives one, in US dollars for a million tokens"
        )
    return Price(**found, **table["factors"][dialect], date=table["date"])


def estimate_cost(
    scenarios: Iterable[Scenario],
    dialect: str,
    model: str,
    *,
    max_output: int = DEFAULT_MAX_OUTPUT,
    prices: tuple[float, float] | None = None,
) -> Estimate:
    """What asking the real API for these scenarios costs, every mode, probe and retry of them included.

    `prices` are US dollars for a million tokens, in and out, in place of the list price. Raises UsageError for a model
    that has none.
    """
    price = price_of(dialect, model) if prices is None else Price(*prices, *_DEAREST, "--price")
    requests = prompt = output = 0
    usd = ceiling = 0.0
    for scenario in scenarios:
        room = int(scenario.options.get("max_tokens", max_output))
        factor = max(price.write_5m, price.write_1h) if scenario.cache else 1.0
        sent_again = sum(probe != "cancelled" for probe in scenario.probes)
        runs = len(scenario.modes) * (1 + sent_again)
        for request in _requests(scenario):
            times = runs * request.times
            requests += times
            prompt += times * request.prompt
            output += times * request.output
            usd += times * (request.prompt * factor * price.input + request.output * price.output) / _MILLION
            # The answers so far stand in the prompt, and each may have been as long as it could.
            longest = request.prompt + request.answers_before * room
            ceiling += times * (longest * factor * price.input + max(room, request.output) * price.output) / _MILLION
    return Estimate(requests, prompt, output, usd, ceiling, price.date)


def check_budget(estimate: Estimate, max_cost: float) -> None:
    """Raise UsageError if what was estimated could cost more than `max_cost` US dollars."""
    if not max_cost >= 0:  # also refuses NaN, which no comparison would stop
        raise UsageError(f"--max-cost must be an amount in US dollars, got {max_cost!r}")
    if estimate.ceiling_usd > max_cost:
        raise UsageError(
            f"this may cost ${estimate.ceiling_usd:.2f}, more than --max-cost {max_cost:.2f} "
            f"({estimate}). Choose fewer scenarios, a smaller max_tokens, or a higher --max-cost."
        )


@cache
def _prices() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("prices.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class _Sent:
    """One request of a scenario: how often it is sent, its size, and how many answers stand in its prompt."""

    times: int
    prompt: int
    output: int
    answers_before: int


def _requests(scenario: Scenario) -> Iterator[_Sent]:
    system, tools = scenario.system, scenario.tools
    history = answers = 0
    for turn in scenario.turns:
        system = turn.system if turn.system is not None else system
        tools = turn.tools if turn.tools is not None else tools
        if "reset" in turn.before:
            history = answers = 0
        frame = text_tokens(system or "") + sum(map(tool_tokens, tools))
        history += sum(map(part_tokens, turn.user))
        for number, answer in enumerate(turn.rounds):
            output = sum(part_tokens(reply.part) for reply in answer.parts)
            yield _Sent(_attempts(turn, number), frame + history, output, answers)
            history += output + _result_tokens(turn, answer)
            answers += 1


def _attempts(turn: Turn, number: int) -> int:
    """How often a round is sent: a fault is put on the answer, so that the API has been asked by then."""
    return 1 + sum(fault.times for fault in turn.faults if fault.round == number)


def _result_tokens(turn: Turn, answer: ScriptRound) -> int:
    names = [name for reply in answer.parts if (name := getattr(reply.part, "name", None)) is not None]
    scripts = [turn.results[name] for name in names if name in turn.results]
    return sum(
        json_tokens(script.error or script.result) + sum(map(part_tokens, script.attachments)) for script in scripts
    )
