"""Whether the claims of a binding are true: some short conversations for each, judged by requirements of the suite.

A claim that is not met is wrong. What is not claimed and works is a warning: it is certified only where it is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..._base.counts import counted
from ...dialects import dialect as dialect_named
from ...judge.requirements import Requirement, Suite, judge, load_suite
from ...judge.verdict import Status
from ...judge.verdict_words import message_of
from ...judge.view import View
from ...provider import Capabilities
from ...run.driver import Runner, RunSpec
from ...run.transcript import Failed, RunKey, Transcript
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.decide import lacking_for
from ..certify.scenarios import suite_scenarios
from .habits import habits
from .model import Diagnostic, ok, warning, wrong


@dataclass(frozen=True, slots=True)
class Probe:
    """The scenario that shows a capability, and the requirements that it is judged by. All of them are the suite's.

    suggested: whether a binding that does not claim it hears of it where it works.
    """

    claim: str
    scenario: str
    requirements: tuple[str, ...]
    suggested: bool = True


PROBES = (
    Probe("tools", "tools/one", ("tools/definitions-are-sent-each-turn", "tools/results-answer-every-call")),
    Probe("native_calls", "tools/one", ("tools/results-answer-every-call",)),
    Probe("parallel_tools", "tools/parallel", ("tools/parallel-calls-stay-apart",)),
    Probe("streaming", "basics/plain", ("streaming/chunks-make-up-the-text",), suggested=False),  # the round trip does
    Probe("thinking", "thinking/plain", ("thinking/setting-goes-out", "thinking/is-no-text"), suggested=False),
    Probe("separate_thoughts", "thinking/interleaved", ("thinking/blocks-stay-apart",), suggested=False),
    Probe("structured", "structured/plain", ("structured/schema-is-on-the-wire", "structured/output-is-parsed")),
    Probe("images", "media/images_only", ("multimodal/images-reach-the-wire",)),
    Probe("image_urls", "media/by_reference", ("multimodal/images-reach-the-wire",), suggested=False),
    Probe("documents", "media/document", ("multimodal/documents-reach-the-wire",)),
    Probe("result_images", "tools/one_image_result", ("multimodal/attachments-of-results-reach-the-wire",)),
    Probe(
        "cancel",
        "cancel/in_text",
        ("cancellation/returns-a-cancelled-response", "cancellation/silence-is-no-obstacle"),
    ),
    Probe(
        "cancel",
        "cancel/in_arguments",
        ("cancellation/returns-a-cancelled-response", "cancellation/no-calls-are-left-behind"),
        suggested=False,
    ),
    Probe("cancel", "cancel/before_headers", ("cancellation/returns-a-cancelled-response",), suggested=False),
    Probe("cancel_batch", "cancel/in_batch", ("cancellation/batch-calls-can-be-cancelled",)),
    Probe("typed_errors", "faults/refused", ("errors/failures-are-typed", "errors/class-fits-the-status")),
    Probe("usage", "basics/plain", ("accounting/prompt-counts-everything", "accounting/output-is-what-the-wire-says")),
    Probe("early_usage", "cancel/in_text", ("cancellation/usage-is-kept",)),
    Probe("finish_reasons", "basics/plain", ("core/finish-reason-says-why",)),
    Probe("finish_words", "basics/plain", ("core/providers-own-finish-word-is-kept",)),
    Probe(
        "part_order",
        "tools/one",
        ("core/parts-keep-the-models-order", "streaming/callbacks-follow-the-models-order"),
        suggested=False,  # texts in front of calls are in order by chance
    ),
    Probe("cache:explicit", "cache/growth", ("cache/history-is-marked",), suggested=False),
)


@dataclass(frozen=True, slots=True)
class _Counter:
    """What speaks against a claim, in words, and the requirement that shows it."""

    words: str
    requirement: str


@dataclass(frozen=True, slots=True)
class _Trial:
    """A probe of one subject: the claims with which it is judged, and whether the binding makes the claim."""

    probe: Probe
    scenario: Scenario
    claims: Capabilities
    claimed: bool

    def spec(self, adapter: str, subject: Subject) -> RunSpec:
        mode = self.scenario.modes_with(self.claims.streaming)[0]
        return RunSpec(adapter, self.scenario, RunKey(self.scenario.name, subject.paths[0], mode))


def claims(runner: Runner, spec: str) -> Iterator[Diagnostic]:
    """What there is to say of the claims of an adapter that goes through a round trip."""
    subject = runner.subject(spec)
    if subject.kind != "adapter" or subject.adapter.delegated:
        return
    suite = load_suite()
    scenarios = {scenario.name: scenario for scenario in suite_scenarios(suite)}
    catalogue = {requirement.id: requirement for requirement in suite.requirements}
    held: list[str] = []
    found: dict[str, Diagnostic] = {}
    for trial in _trials(subject, scenarios):
        name = trial.probe.claim
        if name in found:
            continue
        transcript = runner.run(trial.spec(spec, subject))
        counter, is_held = _judged(trial, transcript, suite, catalogue)
        if trial.claimed and counter is not None:
            advice = _advice(spec, trial, counter.requirement)
            found[name] = wrong(spec, f"claim {name}", f"it is claimed. {counter.words}", advice)
        elif trial.claimed and is_held:
            held.append(name)
        elif is_held and not trial.claimed:
            advice = f"write Capabilities({name}=True) in the binding, so that it is certified"
            found[name] = warning(spec, f"claim {name}", "it is not claimed, and works", advice)
    if true := [name for name in dict.fromkeys(held) if name not in found]:
        yield ok(
            spec, "claims", f"{counted(len(true), 'claim')} of the binding hold in one conversation: {', '.join(true)}"
        )
    yield from found.values()
    yield from habits(runner, spec, subject, suite, scenarios)


def _trials(subject: Subject, scenarios: Mapping[str, Scenario]) -> Iterator[_Trial]:
    own = subject.claims()
    for probe in PROBES:
        scenario = scenarios.get(probe.scenario)
        claimed = own.claims(probe.claim)
        if scenario is None or not (claimed or probe.suggested):
            continue
        judged_with = own if claimed else replace(own, **{probe.claim: True})  # type: ignore[arg-type]
        streams = judged_with.streaming or "batch" in scenario.modes
        if streams and not lacking_for(scenario, judged_with, subject.operations):
            yield _Trial(probe, scenario, judged_with, claimed)


def _judged(
    trial: _Trial, transcript: Transcript, suite: Suite, catalogue: Mapping[str, Requirement]
) -> tuple[_Counter | None, bool]:
    """What speaks against the claim, and whether something speaks for it."""
    requirements = [catalogue[name] for name in trial.probe.requirements if name in catalogue]
    first = trial.probe.requirements[0]
    if transcript.end.how != "completed":
        return _Counter(f"The run ended with {transcript.end.how}: {transcript.end.detail}", first), False
    if failed := _unexpected_failure(trial.scenario, transcript):
        return _Counter(f"The call raised {failed.error}: {failed.message}", first), False
    view = View(transcript, dialect_named(transcript.dialect), trial.scenario, "")
    is_held = False
    for requirement in requirements:
        verdict = judge(requirement, transcript.key.path, [view], claims=trial.claims, registry=suite.registry)
        if verdict.status is Status.VIOLATED:
            return _Counter(message_of(verdict, suite.registry.templates), requirement.id), False
        is_held = is_held or verdict.status is Status.HELD
    return None, is_held


def _unexpected_failure(scenario: Scenario, transcript: Transcript) -> Failed | None:
    """The first failure of a conversation in which nothing is to fail. What its probes ask beside it may fail."""
    if any(turn.faults or turn.cancel or turn.expect != "answer" for turn in scenario.turns):
        return None
    return next((failed for failed in transcript.of(Failed) if not failed.probe), None)


def _advice(spec: str, trial: _Trial, requirement: str) -> str:
    """What the binding has to say where the library cannot do it, and how to see the whole of it."""
    claim, _, kind = trial.probe.claim.partition(":")
    value = '"none"' if kind else "False"
    again = f"turnproof certify {spec} --only {requirement} --scenario {trial.scenario.name}"
    again += " --depth full" if trial.scenario.depth == "full" else ""
    return f"write Capabilities({claim}={value}) if the library cannot do it; otherwise mend it: {again}"
