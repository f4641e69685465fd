"""Where the two paths of an adapter differ, the legacy one is run a second time, which tells noise from difference."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.commands.certify.campaign import Campaign
from turnproof.commands.certify.plan import plan
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import Suite, load_suite
from turnproof.judge.verdict import Status
from turnproof.messages import FinishReason, ProviderResponse, Text
from turnproof.provider import Binding
from turnproof.run.bindings import subject_of
from turnproof.run.driver import Runner
from turnproof.run.evidence import EvidenceStore
from turnproof.wire.controls.anthropic_messages import CONTROL

PLAIN = "basics/plain"
COMPARED = "core/finish-reason-says-why"
ALONE = "core/what-the-service-did-goes-back"
"""A requirement with no aspect: the paths are not compared by it."""

Change = Callable[[ProviderResponse], ProviderResponse]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


class Changed:
    """An adapter whose streamed answers on the legacy path are changed."""

    def __init__(self, inner: Any, change: Change) -> None:
        self._inner = inner
        self._change = change

    def send_message_streaming(self, *args: Any, **options: Any) -> ProviderResponse:
        return self._change(self._inner.send_message_streaming(*args, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def binding(change: Change) -> Binding:
    opener = CONTROL.open_legacy
    assert opener is not None
    return dataclasses.replace(CONTROL, name="changed", open_legacy=lambda at: Changed(opener(at), change))


def finished(reason: FinishReason) -> Change:
    return lambda response: msgspec.structs.replace(response, finish_reason=reason)


def shouting(response: ProviderResponse) -> ProviderResponse:
    parts = tuple(Text(part.text.upper()) if isinstance(part, Text) else part for part in response.parts)
    return msgspec.structs.replace(response, parts=parts)


def certified(folder: Path, suite: Suite, changed: Binding, requirement: str = COMPARED) -> tuple[list[str], Status]:
    """The second runs that were made of one scenario, and what the paths were found to be."""
    campaign = measured(folder, suite, changed, requirement)
    verdicts = {item.path: campaign.verdict(item).status for item in campaign.plan.items}
    seconds = [str(view.key) for view in campaign.views(changed.name) if view.key.repeat]
    return seconds, verdicts.get("parity", Status.NOT_CLAIMED)


def measured(folder: Path, suite: Suite, changed: Binding, requirement: str = COMPARED) -> Campaign:
    """A campaign with the runs of one scenario."""
    subject = subject_of(changed)
    scenarios = [one for one in suite_scenarios(suite) if one.name == PLAIN]
    expected = [one for one in suite.requirements if one.id == requirement]
    the_plan = plan({changed.name: subject}, suite, scenarios, expected)
    with Runner(in_process=True, bindings={changed.name: changed}) as runner:
        campaign = Campaign(the_plan, {changed.name: subject}, runner, EvidenceStore(folder), scenarios)
        campaign.measure()
    return campaign


def test_paths_that_did_the_same_are_not_run_again(tmp_path: Path, suite: Suite) -> None:
    assert certified(tmp_path, suite, binding(lambda response: response)) == ([], Status.HELD)


def test_where_the_paths_differ_a_second_legacy_run_says_that_it_is_no_noise(tmp_path: Path, suite: Suite) -> None:
    seconds, status = certified(tmp_path, suite, binding(finished(FinishReason.MAX_TOKENS)))
    assert seconds == ["basics/plain/legacy/stream#1"]  # and none in one piece, where they are the same
    assert status is Status.VIOLATED


def test_a_difference_that_is_noise_decides_nothing(tmp_path: Path, suite: Suite) -> None:
    reasons = itertools.cycle([FinishReason.MAX_TOKENS, FinishReason.SAFETY])
    seconds, status = certified(tmp_path, suite, binding(lambda response: finished(next(reasons))(response)))
    assert seconds == ["basics/plain/legacy/stream#1"]
    assert status is Status.INCONCLUSIVE


def test_what_only_a_comparison_of_whole_runs_sees_is_run_again_too(tmp_path: Path, suite: Suite) -> None:
    """Gates and reports compare whole runs that a certification left behind."""
    seconds, status = certified(tmp_path, suite, binding(shouting))
    assert seconds == ["basics/plain/legacy/stream#1"]
    assert status is Status.HELD


def test_without_a_requirement_that_compares_the_paths_nothing_is_run_again(tmp_path: Path, suite: Suite) -> None:
    changed = binding(finished(FinishReason.MAX_TOKENS))
    assert certified(tmp_path, suite, changed, ALONE) == ([], Status.NOT_CLAIMED)


def test_a_run_that_came_to_no_end_is_not_run_again(tmp_path: Path, suite: Suite) -> None:
    def refusing(at: Any) -> Any:
        raise RuntimeError("the region is closed")

    seconds, status = certified(tmp_path, suite, dataclasses.replace(CONTROL, name="changed", open_legacy=refusing))
    assert seconds == []
    assert status is Status.INCONCLUSIVE


def test_only_runs_in_which_the_paths_may_differ_are_compared_again(tmp_path: Path, suite: Suite) -> None:
    campaign = measured(tmp_path, suite, binding(finished(FinishReason.MAX_TOKENS)))
    assert sorted(str(view.key) for view in campaign.differing("changed")) == [
        "basics/plain/legacy/stream",
        "basics/plain/legacy/stream#1",
        "basics/plain/stateless/stream",
    ]
