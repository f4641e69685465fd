"""A library that lacks something says so in its binding. Without the word it is violated, with it not claimed; and
what is nearest to it, and wrong, is still found."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pytest

from turnproof._base.depth import Depth
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.run_log import read_run
from turnproof.judge.verdict import Status

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Case:
    """`claim` is set to False in the binding NAME_SAID, and in NAME_SPOILT, which is wrong in another way."""

    name: str
    claim: str
    scenarios: tuple[str, ...]
    violated: frozenset[str]
    found_all_the_same: str = ""
    depth: Depth = "quick"


CASES = [
    Case(
        "FINISH",
        "finish_reasons",
        ("basics/plain", "finish/reasons", "tools/one"),
        frozenset({"core/finish-reason-says-why", "core/providers-own-finish-word-is-kept"}),
        "core/text-is-what-the-wire-carried",
    ),
    Case(
        "WORDS",
        "finish_words",
        ("basics/plain",),
        frozenset({"core/providers-own-finish-word-is-kept"}),
        "core/finish-reason-says-why",
    ),
    Case(
        "EARLY",
        "early_usage",
        ("cancel/in_text", "basics/plain"),
        frozenset({"cancellation/usage-is-kept"}),
        "accounting/prompt-counts-everything",
    ),
    Case(
        "REPAIR",
        "pair_repair",
        ("tools/parallel",),
        frozenset({"tools/broken-pairs-are-not-sent"}),
        "tools/tool-use-comes-with-calls",
    ),
    Case(
        "ORDER",
        "part_order",
        ("tools/one",),
        frozenset({"streaming/callbacks-follow-the-models-order"}),
        "streaming/calls-are-announced-once",
    ),
    Case(
        "THOUGHTS",
        "separate_thoughts",
        ("thinking/interleaved",),
        frozenset({"thinking/blocks-stay-apart"}),
        "thinking/is-no-text",
        "full",
    ),
    Case(
        "URLS",
        "image_urls",
        ("media/by_reference", "media/images_only"),
        frozenset({"parity/same-outcome-of-each-turn"}),
        "multimodal/images-reach-the-wire",
        "full",
    ),
    Case("RETRIES", "retries", ("faults/rate_limited",), frozenset({"recovery/turn-survives-a-passing-fault"})),
]


def violated(binding: str, case: Case, folder: Path) -> set[str]:
    spec = f"commands.certify.limited_bindings:{binding}"
    out = folder / binding
    certify(
        CertifyOptions(
            (spec,), scenarios=case.scenarios, depth=case.depth, out=out, backend="emulate", path="stateless", jobs=1
        )
    )
    run = read_run(out / "run.ndjson")
    assert run.results
    return {line.requirement for line in run.results if line.verdict.status is Status.VIOLATED}


@pytest.mark.parametrize("case", CASES, ids=attrgetter("claim"))
def test_what_a_library_lacks_is_violated_unless_its_binding_says_so(case: Case, tmp_path: Path) -> None:
    assert violated(case.name, case, tmp_path) >= case.violated
    assert violated(f"{case.name}_SAID", case, tmp_path) == set()
    if case.found_all_the_same:
        assert case.found_all_the_same in violated(f"{case.name}_SPOILT", case, tmp_path)
