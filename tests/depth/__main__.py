"""`python -m tests.depth measure ADAPTER --out FILE`, then `python -m tests.depth choose FILE ...`.

`measure` breaks an adapter in every way that the suites know, tries each mutant in the scenarios that show its
requirement, a sample of `--at-most` beside its own, and times every scenario. It takes some minutes of the processor.
`choose` prints the curve of the greedy choice, what the present default costs and misses, what each of its scenarios
alone detects, and which of them it can do without.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import msgspec

from turnproof._base.depth import DEFAULT_DEPTH
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject

from .choice import Detected, Scenes, alone, greedy, missed, spare
from .detections import Detections, Sample, fits, joined, measure
from .needed import groups


def decides(adapters: Sequence[str]) -> dict[str, set[Detected]]:
    """What each scenario decides of these adapters: the requirements that it shows, by the index of the suite."""
    suite = load_suite()
    assert suite.shown is not None
    found: dict[str, set[Detected]] = {}
    for adapter in adapters:
        subject = resolve_subject(adapter)
        fitting = {one.name for one in suite_scenarios(suite) if fits(one, subject)}
        for requirement in suite.requirements:
            if requirement.concerns(subject.kind) and not requirement.lacks(subject.claims()):
                for name in fitting & suite.shown.scenarios(requirement.id, subject.dialect).keys():
                    found.setdefault(name, set()).add((adapter, requirement.id))
    return found


def choose(files: Sequence[Path]) -> None:
    """Print the curve and the present choice."""
    measured: dict[str, Detections] = {}
    for file in files:
        one = msgspec.json.decode(file.read_bytes(), type=Detections)
        measured[one.adapter] = reduce(joined, [measured[one.adapter], one]) if one.adapter in measured else one
    scenes = Scenes.of(list(measured.values()), decides(list(measured)))
    every = scenes.detected(scenes.seconds)
    print(f"{'scenario':44} {'new':>5} {'detected':>9} {'of all':>7} {'seconds':>8}")
    for step in greedy(scenes):
        share = step.detected / len(every)
        print(f"{step.scenario:44} {step.new:5} {step.detected:9} {share:7.1%} {step.seconds:8.2f}")
    suite = load_suite()
    quick = {one.name: one for one in suite_scenarios(suite) if one.is_in(DEFAULT_DEPTH)}
    default = {name for name, one in quick.items() if quick.keys().isdisjoint(one.unless)} & scenes.seconds.keys()
    print_default(scenes, default)
    more = max(
        scenes.seconds.keys() - default,
        key=lambda name: len(scenes.detects[name] & missed(scenes, default)) / max(scenes.seconds[name], 0.001),
    )
    can_go = spare(scenes, default, list(groups()))
    print(f"the default can do without {', '.join(can_go) or 'none of its scenarios'}: {scenes.cost(can_go):.2f} s")
    print(f"a scenario more that finds most for its seconds: {more}, {scenes.seconds[more]:.2f} s")


def print_default(scenes: Scenes, default: set[str]) -> None:
    """Print what the default costs and misses, and which of its scenarios detect least that no other one does."""
    left = missed(scenes, default)
    count = len(scenes.detected(default))
    print(f"default: {len(default)} scenarios, {scenes.cost(default):.2f} s, {count} detected, {len(left)} missed")
    for adapter, what in sorted(left):
        where = sorted(name for name in scenes.detects if (adapter, what) in scenes.detects[name])
        print(f"  missed: {adapter} {what}, found by {' '.join(where)}")
    own = alone(scenes, default)
    for name in sorted(default, key=lambda one: (len(own[one]) / max(scenes.seconds[one], 0.001), one)):
        print(f"  {name:44} {scenes.seconds[name]:7.2f} s {len(own[name]):4} alone")


def main() -> None:
    """Measure, or choose."""
    parser = argparse.ArgumentParser(prog="python -m tests.depth", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("adapter")
    measuring.add_argument("--out", type=Path, required=True)
    measuring.add_argument("--at-most", type=int, default=12)
    measuring.add_argument("--seed", type=int, default=0)
    measuring.add_argument("--jobs", type=int, default=2)
    measuring.add_argument("--only", nargs="*", default=(), metavar="MUTANT")
    measuring.add_argument("--always", nargs="*", default=(), metavar="SCENARIO")
    choosing = commands.add_parser("choose")
    choosing.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "choose":
        choose(arguments.files)
        return
    sample = Sample(arguments.at_most, arguments.seed, frozenset(arguments.always))
    found = measure(arguments.adapter, sample, arguments.only, arguments.jobs)
    arguments.out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))


if __name__ == "__main__":
    main()
