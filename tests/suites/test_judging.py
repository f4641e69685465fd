"""From what a check yields to a verdict: on one path, and on both."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import Evidence
from turnproof.errors import CatalogueError, HarnessError
from turnproof.judge.requirements import Findings, Level, Registry, Requirement, judge, judge_parity
from turnproof.judge.verdict import Status, Verdict, held, violated
from turnproof.judge.verdict_words import message_of
from turnproof.judge.view import View
from turnproof.messages import TokenUsage
from turnproof.provider import Capabilities, Difference
from turnproof.run.transcript import Response

from .build import RunBuilder, error, response_with, scripted, spoilt

NAME = "core/something"


def requirement(**fields: Any) -> Requirement:
    defaults = {
        "title": "t",
        "reason": "r",
        "provider": "p",
        "code": "c",
        "sources": ("defects:TP1",),
        "profile": "core",
    }
    return Requirement(id=NAME, level=Level.MUST, **(defaults | fields))


def run(
    name: str = "one", path: str = "stateless", mode: str = "stream", repeat: int = 0, how: str = "completed"
) -> View:
    builder = RunBuilder(scripted(["Yes."]), name=name, path=path, mode=mode, repeat=repeat)
    return builder.turn("Moist?").call("Yes.").end().view(how=how)


def registry(check: Any, aspect: Any = None) -> Registry:
    found = Registry()
    found.check(NAME, aspect=aspect)(check)
    return found


def message(verdict: Verdict) -> str:
    return message_of(verdict, {})


def yields(*findings: str | Verdict) -> Registry:
    def check(view: View) -> Findings:
        yield from findings

    return registry(check)


# -- one path ---------------------------------------------------------------------------------------------------------


def test_what_was_compared_is_counted_and_named_by_run() -> None:
    verdict = judge(requirement(), "stateless", [run()], registry=yields("texts", "texts", "calls"))
    assert verdict.status is Status.HELD
    assert verdict.compared == ("one/stateless/stream: texts ×2", "one/stateless/stream: calls")


def test_a_check_that_compared_nothing_never_holds() -> None:
    verdict = judge(requirement(), "stateless", [run()], registry=yields())
    assert verdict.status is Status.INCONCLUSIVE


def test_a_run_that_never_asked_shows_nothing_however_much_is_compared() -> None:
    silent = RunBuilder(scripted(["Yes."]), name="silent").turn("Moist?").end("error").view()
    verdict = judge(requirement(), "stateless", [silent], registry=yields("texts"))
    assert (verdict.status, verdict.compared_nothing, verdict.asked) == (Status.INCONCLUSIVE, True, 0)
    both = judge(requirement(), "stateless", [silent, run()], registry=yields("texts"))
    assert (both.status, both.asked) == (Status.HELD, 1)
    assert both.compared == ("one/stateless/stream: texts",)


def test_who_never_asked_is_accused_all_the_same() -> None:
    silent = RunBuilder(scripted(["Yes."]), name="silent").turn("Moist?").end("error").view()
    verdict = judge(requirement(), "stateless", [silent], registry=yields("texts", violated("printed")))
    assert (verdict.status, verdict.asked) == (Status.VIOLATED, 0)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [("requests", 2), ("answers", 1), ("calls", 2), ("failures", 1), ("callbacks", 3), ("steps", 1)],
)
def test_a_requirement_says_what_is_counted(counts: str, expected: int) -> None:
    builder = RunBuilder(scripted(["Yes."])).turn("Moist?")
    view = builder.refused(529, error("OverloadedError", status=529, retryable=True)).call("Yes.").end().view()
    assert judge(requirement(counts=counts), "stateless", [view], registry=yields("texts")).asked == expected


def test_paths_agree_only_where_both_were_asked() -> None:
    found = registry(lambda view: None, aspect=lambda view: {"0": "nothing"})
    silent = RunBuilder(scripted(["Yes."]), name="one", path="legacy").turn("Moist?").end("error").view()
    one_sided = judge_parity(requirement(), [run()], [silent], [], registry=found)
    assert one_sided is not None
    assert one_sided.status is Status.INCONCLUSIVE
    both = judge_parity(requirement(), [run()], [run(path="legacy")], [], registry=found)
    assert both is not None
    assert (both.status, both.asked) == (Status.HELD, 2)


def test_one_violation_outweighs_everything_else_in_its_run() -> None:
    verdict = judge(requirement(), "stateless", [run()], registry=yields("texts", violated("lost"), violated("also")))
    assert verdict.status is Status.VIOLATED
    assert message(verdict) == "lost (and 1 more)"
    assert verdict.failing == {"one/stateless/stream": 2}
    assert verdict.where == "one/stateless/stream"


def test_a_violation_on_an_inferred_rule_is_inconclusive() -> None:
    found = violated("refused", rests_on=Evidence.INFERRED)
    assert judge(requirement(), "stateless", [run()], registry=yields(found)).status is Status.INCONCLUSIVE


def test_the_weakest_evidence_of_what_held_is_named() -> None:
    found = held("a", asked=1, rests_on=Evidence.RECORDED), held("b", asked=1, rests_on=Evidence.ISSUE)
    assert judge(requirement(), "stateless", [run()], registry=yields(*found)).rests_on is Evidence.ISSUE


def test_a_verdict_rests_on_what_its_requirement_rests_on_or_on_less() -> None:
    documented = requirement(sources=("wire:anthropic#5",), rests_on=Evidence.DOCUMENTED)
    plain = judge(documented, "stateless", [run()], registry=yields("texts"))
    assert plain.rests_on is Evidence.DOCUMENTED
    weaker = judge(documented, "stateless", [run()], registry=yields(violated("refused", rests_on=Evidence.ISSUE)))
    assert weaker.rests_on is Evidence.ISSUE
    stronger = judge(documented, "stateless", [run()], registry=yields(violated("refused", rests_on=Evidence.RECORDED)))
    assert stronger.rests_on is Evidence.DOCUMENTED
    assert judge(documented, "stateless", [run()], registry=yields()).rests_on is None


def test_a_check_may_return_a_verdict_or_nothing_itself() -> None:
    assert (
        judge(requirement(), "stateless", [run()], registry=registry(lambda view: held("x", asked=1))).status
        is Status.HELD
    )
    nothing = judge(requirement(), "stateless", [run()], registry=registry(lambda view: None))
    assert nothing.status is Status.INCONCLUSIVE


def test_only_first_runs_of_the_path_and_of_the_scenarios_looked_at_are_read() -> None:
    seen: list[str] = []

    def check(view: View) -> Findings:
        seen.append(str(view.key))
        yield "x"

    views = [run(), run(path="legacy"), run(repeat=1), run("other")]
    judge(requirement(scenarios=("one",)), "stateless", views, registry=registry(check))
    assert seen == ["one/stateless/stream"]


def test_the_order_in_which_runs_ended_changes_nothing() -> None:
    views = [run("a"), run("b"), run("a", mode="batch")]
    found = yields(violated("lost"))
    there, back = (judge(requirement(), "stateless", order, registry=found) for order in (views, views[::-1]))
    assert there == back
    assert there.where == "a/stateless/batch"


def test_what_is_not_claimed_is_not_judged() -> None:
    need = requirement(capability=("tools", "cache:explicit"))
    verdict = judge(need, "stateless", [run()], claims=Capabilities(tools=True), registry=yields("x"))
    assert verdict.status is Status.NOT_CLAIMED
    assert "cache:explicit" in verdict.message


def test_a_requirement_of_one_path_is_not_claimed_on_the_other() -> None:
    verdict = judge(requirement(paths=("stateless",)), "legacy", [run(path="legacy")], registry=yields("x"))
    assert verdict.status is Status.NOT_CLAIMED


@pytest.mark.parametrize("how", ["hung", "died", "open-failed", "harness-fault"])
def test_a_run_that_did_not_end_proves_nothing_either_way(how: str) -> None:
    for findings in (("x",), (violated("lost"),)):
        verdict = judge(requirement(), "stateless", [run(how=how)], registry=yields(*findings))
        assert verdict.status is Status.INCONCLUSIVE
        assert how in verdict.message


def test_a_check_that_falls_over_is_the_harness_fault() -> None:
    def check(view: View) -> Findings:
        raise KeyError("oops")
        yield "x"

    with pytest.raises(HarnessError, match="core/something failed on one/stateless/stream"):
        judge(requirement(), "stateless", [run()], registry=registry(check))


def test_an_unregistered_requirement_cannot_be_judged() -> None:
    with pytest.raises(CatalogueError, match="no check"):
        judge(requirement(), "stateless", [run()], registry=Registry())


def test_modes_are_paired_by_scenario() -> None:
    found = Registry()

    @found.compare_modes(NAME)
    def same(stream: View, batch: View) -> Findings:
        yield f"{stream.key} with {batch.key}"

    views = [run("a"), run("b"), run("a", mode="batch")]
    verdict = judge(requirement(), "stateless", views, registry=found)
    assert verdict.compared == ("a/stateless/stream and a/stateless/batch: a/stateless/stream with a/stateless/batch",)


# -- both paths -------------------------------------------------------------------------------------------------------


def parity(
    values: dict[tuple[str, int], Any], declared: tuple[Difference, ...] = (), knows: tuple[str, ...] = (), **how: Any
) -> Verdict:
    """Parity of an aspect that has these values by path and repeat."""

    def check(view: View) -> Findings:
        yield "x"

    found = registry(check, lambda view: values.get((view.key.path, view.key.repeat)))
    verdict = judge_parity(
        requirement(differences=knows),
        [run(**how)],
        [run(path="legacy")],
        [run(path="legacy", repeat=1)] if ("legacy", 1) in values else [],
        declared=declared,
        registry=found,
    )
    assert verdict is not None
    return verdict


def test_equal_paths_hold() -> None:
    same = {("stateless", 0): [1], ("legacy", 0): [1], ("legacy", 1): [1]}
    assert parity(same).status is Status.HELD


def test_different_paths_are_violated_with_path_and_both_sides() -> None:
    verdict = parity({("stateless", 0): {"text": "a"}, ("legacy", 0): {"text": "b"}, ("legacy", 1): {"text": "b"}})
    assert verdict.status is Status.VIOLATED
    (found,) = verdict.findings
    assert (found.code, found.expected, found.observed) == (f"{NAME}/paths-differ", "b", "a")
    assert [place.run for place in (found.place, *found.related)] == ["one/stateless/stream", "one/legacy/stream"]


def test_a_legacy_path_that_differs_from_itself_decides_nothing() -> None:
    verdict = parity({("stateless", 0): [1], ("legacy", 0): [2], ("legacy", 1): [3]})
    assert verdict.status is Status.INCONCLUSIVE
    assert "legacy again" in verdict.detail


def test_without_a_second_legacy_run_no_difference_is_told_from_noise() -> None:
    verdict = parity({("stateless", 0): [1], ("legacy", 0): [2]})
    assert verdict.status is Status.INCONCLUSIVE
    assert "no second legacy run" in verdict.message


def test_paths_that_did_the_same_need_no_second_legacy_run() -> None:
    assert parity({("stateless", 0): [1], ("legacy", 0): [1]}).status is Status.HELD


def test_an_unfinished_run_decides_nothing() -> None:
    same = {("stateless", 0): [1], ("legacy", 0): [1], ("legacy", 1): [1]}
    assert parity(same, how="hung").status is Status.INCONCLUSIVE


def test_an_aspect_that_one_path_lacks_is_a_difference() -> None:
    assert parity({("stateless", 0): [1], ("legacy", 1): None}).status is Status.VIOLATED


def test_noise_beside_a_difference_hides_it_not() -> None:
    noisy = {("stateless", 0): {"id": 1, "text": "a"}, ("legacy", 0): {"id": 2, "text": "b"}}
    verdict = parity({**noisy, ("legacy", 1): {"id": 3, "text": "b"}})
    assert verdict.status is Status.VIOLATED
    assert [found.facts["reading"] for found in verdict.findings] == [[]]
    assert [found.observed for found in verdict.findings] == ["a"]


LATE = Difference("stream-usage-late", "the SDK reports it at the end")


def usage_parity(declared: tuple[Difference, ...], knows: tuple[str, ...], key: str = "0/0#0") -> Verdict:
    """Parity of a usage that the legacy path does not report in streams, read under this key."""

    def check(view: View) -> Findings:
        yield "x"

    def read_usage(view: View) -> Any:
        response = view.calls[0].response
        return {key: response.usage.prompt_tokens if response is not None else None}

    late = response_with(usage=TokenUsage())
    first, second = (spoilt(run(path="legacy", repeat=repeat), Response, late) for repeat in (0, 1))
    found = registry(check, read_usage)
    verdict = judge_parity(
        requirement(differences=knows), [run()], [first], [second], declared=declared, registry=found
    )
    assert verdict is not None
    return verdict


def test_a_declared_difference_is_held_and_named() -> None:
    excused = usage_parity((LATE,), ("stream-usage-late",))
    assert excused.status is Status.HELD
    assert excused.compared == ("declared difference stream-usage-late",)


def test_a_difference_that_the_requirement_does_not_know_excuses_nothing() -> None:
    assert usage_parity((LATE,), ()).status is Status.VIOLATED


def test_a_declared_difference_of_another_kind_excuses_nothing() -> None:
    other = Difference("callbacks-at-the-end", "the SDK gives calls last")
    assert usage_parity((other,), ("callbacks-at-the-end",)).status is Status.VIOLATED


def test_a_declared_difference_excuses_nothing_at_another_place() -> None:
    assert usage_parity((LATE,), ("stream-usage-late",), key="1/0#0").status is Status.VIOLATED
    assert usage_parity((LATE,), ("stream-usage-late",), key="0").status is Status.HELD


def test_paths_are_not_compared_at_a_point_of_a_sweep() -> None:
    """What a cut leaves over is a matter of moments, and nothing is run there a second time."""

    def check(view: View) -> Findings:
        yield "x"

    found = registry(check, lambda view: [1] if view.key.scenario == "one" else [view.key.path])
    ours, theirs = ([run(name, path=path) for name in ("one", "two#reset@3")] for path in ("stateless", "legacy"))
    verdict = judge_parity(requirement(), ours, theirs, [], registry=found)
    assert verdict is not None
    assert verdict.status is Status.HELD
    alone = judge_parity(requirement(), ours[1:], theirs[1:], [], registry=found)
    assert alone is not None
    assert alone.status is Status.INCONCLUSIVE


def test_a_requirement_without_an_aspect_has_no_parity() -> None:
    assert judge_parity(requirement(), [run()], [run(path="legacy")], [], registry=yields("x")) is None
