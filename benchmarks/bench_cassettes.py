"""What a cassette costs to load and to play, beside vcrpy on the very same file.

    python benchmarks/bench_cassettes.py [--interactions 500] [--rounds 5] [--json]

CPU time of this process, everything interleaved round by round, best of the rounds; what counts are the ratios.
`load` is a whole cassette into memory. `play` is all that answering one request takes once it has been read: canonical
form, digest, look-up, the reply as events. vcrpy plays with its `body` matcher, the only one of its own that tells
requests of one address apart, and with the matcher that `turnproof.cassettes.vcr` registers.

Goals: load at most 0.10 of vcrpy's; the last of equal-sized exchanges at most 1.5 times the first. The exit code is 1
if the best round misses one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any

from vcr.cassette import Cassette as VcrCassette  # type: ignore[import-untyped]
from vcr.matchers import body, method, uri  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]
from vcr.request import Request as VcrRequest  # type: ignore[import-untyped]

from turnproof.cassettes import Player, Recorder, load, save
from turnproof.cassettes.vcr import Matcher, Serializer
from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart, World
from turnproof.messages import FinishReason, Text

ANTHROPIC = dialect("anthropic-messages")
WORLD = World(frozenset(), ANTHROPIC.models, lambda: 0.0, any_key=True)
HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
SENTENCE = "Bed three is moist enough, and the thermometer by the door reads nineteen degrees. "
LOAD_GOAL, POSITION_GOAL = 0.10, 1.5


def request(number: int) -> HttpRequest:
    """One of many equally long requests of 21 messages, about 6.5 kB; it differs from the others in its last one."""
    messages = [
        {"role": "assistant" if turn % 2 else "user", "content": [{"type": "text", "text": SENTENCE * 3}]}
        for turn in range(20)
    ]
    messages.append({"role": "user", "content": [{"type": "text", "text": f"Entry {number:06d}?"}]})
    sent = {"model": "claude-sonnet-4-5", "max_tokens": 256, "stream": True, "messages": messages}
    return HttpRequest("POST", "/v1/messages", {}, HEADERS, json.dumps(sent).encode())


def read(sent: HttpRequest) -> Call:
    call = ANTHROPIC.parse(sent, WORLD)
    assert isinstance(call, Call), call
    return call


def write(path: Path, interactions: int) -> None:
    """Record so many exchanges from the dialect itself."""
    tape = Recorder(
        adapter="bench",
        scenario="fixed",
        dialect=ANTHROPIC,
        model="claude-sonnet-4-5",
        recorded="emulated",
        day=date(2026, 11, 21),
    )
    for number in range(interactions):
        sent = request(number)
        call = read(sent)
        reply = Reply((ReplyPart(Text(f"Entry {number:06d}: {SENTENCE}")),), FinishReason.STOP)
        made = ANTHROPIC.render(call, reply, PromptUsage(1500), WORLD, str(number))
        chunks = [event.data for event in made.events]
        tape.add(sent, call, status=made.status, headers=made.headers, chunks=chunks, turn=number, round_=0)
    save(tape.cassette(), path)


def cpu(work: Callable[[], Any]) -> float:
    """Milliseconds of CPU that one run of `work` takes."""
    start = process_time_ns()
    work()
    return (process_time_ns() - start) / 1e6


def vcr_load(path: Path, *, ours: bool) -> VcrCassette:
    """The cassette in vcrpy: with its own loader and body matcher, or with what we register."""
    host = ANTHROPIC.default_host.rpartition("/")[2]
    return VcrCassette.load(
        path=str(path),
        record_mode=RecordMode.NONE,
        match_on=(method, uri, Matcher({host: ANTHROPIC}) if ours else body),
        **({"serializer": Serializer()} if ours else {}),
    )


def vcr_play(tape: VcrCassette, number: int) -> None:
    """What vcrpy's HTTP stubs do for one request."""
    sent = request(number)
    made = VcrRequest(sent.method, f"{ANTHROPIC.default_host}{sent.path}", sent.body, dict(sent.headers))
    assert tape.can_play_response_for(made)
    tape.play_response(made)


def ends(costs: list[float]) -> dict[str, float]:
    """First and last of many equal jobs, each as the median of a tenth of them."""
    tenth = max(1, len(costs) // 10)
    return {"first": median(costs[:tenth]), "last": median(costs[-tenth:])}


def measure(path: Path, interactions: int) -> dict[str, float]:
    """One round: every figure once, in milliseconds."""
    found = {
        "load turnproof": cpu(lambda: load(path)),
        "load vcrpy": cpu(lambda: vcr_load(path, ours=False)),
        "load vcrpy, registered": cpu(lambda: vcr_load(path, ours=True)),
    }
    player, calls = Player(load(path), ANTHROPIC), [read(request(number)) for number in range(interactions)]
    plays = [cpu(partial(player.answer, calls[n], n, 0)) for n in range(interactions)]
    assert player.unplayed() == []
    found |= {f"play turnproof {end}": cost for end, cost in ends(plays).items()}
    for name, ours in (("vcrpy", False), ("vcrpy, registered", True)):
        tape = vcr_load(path, ours=ours)
        # The registered matcher reads every recorded request when it first meets it: a cost of its own, once.
        found[f"play {name} opening"] = cpu(partial(vcr_play, tape, interactions // 2))
        found[f"play {name} first"] = cpu(partial(vcr_play, tape, 0))
        found[f"play {name} last"] = cpu(partial(vcr_play, tape, interactions - 1))
    return found


def ratios(figures: dict[str, float]) -> dict[str, float]:
    """What the figures come to; the first two have goals."""
    return {
        "load: turnproof / vcrpy": figures["load turnproof"] / figures["load vcrpy"],
        "play: last / first, turnproof": figures["play turnproof last"] / figures["play turnproof first"],
        "play: last / first, vcrpy": figures["play vcrpy last"] / figures["play vcrpy first"],
        "play: last, turnproof / vcrpy": figures["play turnproof last"] / figures["play vcrpy last"],
        "load: vcrpy registered / vcrpy": figures["load vcrpy, registered"] / figures["load vcrpy"],
        "play: last, vcrpy registered / vcrpy": figures["play vcrpy, registered last"] / figures["play vcrpy last"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Cost of cassettes, beside vcrpy")
    parser.add_argument("--interactions", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fixed.yaml")
        write(path, arguments.interactions)
        rounds = [measure(path, arguments.interactions) for _ in range(arguments.rounds)]
        size = path.stat().st_size
    best = {name: min(figures[name] for figures in rounds) for name in rounds[0]}
    told = {name: min(ratios(figures)[name] for figures in rounds) for name in ratios(best)}
    met = told["load: turnproof / vcrpy"] <= LOAD_GOAL and told["play: last / first, turnproof"] <= POSITION_GOAL
    if arguments.json:
        print(json.dumps({"bytes": size, "milliseconds": best, "ratios": told, "met": met}, indent=1))
    else:
        print(f"{arguments.interactions} interactions, {size / 1e6:.1f} MB, best of {arguments.rounds} rounds\n")
        for name, cost in best.items():
            print(f"  {name:<38} {cost:10.3f} ms")
        print()
        for name, ratio in told.items():
            print(f"  {name:<38} {ratio:10.3f}")
        print(f"\ngoals (load <= {LOAD_GOAL}, last / first <= {POSITION_GOAL}): {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
