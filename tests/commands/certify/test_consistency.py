"""A run that was forged by somebody who computes every digest anew, in each way that would make it look better."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from report.runs import ADAPTER, HEADER

from turnproof.commands.certify import consistency, verify
from turnproof.commands.certify.decide import Claimed, decide
from turnproof.commands.certify.verify import verify_run
from turnproof.dialects import dialect
from turnproof.judge.requirements import (
    AllowedOnly,
    Catalogue,
    Findings,
    ProfileSet,
    Registry,
    Suite,
)
from turnproof.judge.run_log import (
    Footer,
    Header,
    Line,
    RequirementLine,
    ResultLine,
    RunWriter,
    TranscriptLine,
    read_run,
)
from turnproof.judge.verdict import Status, held, violated
from turnproof.judge.view import View
from turnproof.provider import Capabilities
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Chunk, RunEnded, RunKey, Transcript, TurnBegan
from turnproof.scenarios.model import Scenario

from .politeness import requirement

PATHS = ("stateless", "legacy")
SCENARIOS = [Scenario(name=f"core/{name}", title=name, turns=(), modes=("stream",)) for name in ("bye", "hello")]
LONG = Scenario(name="core/long", title="long", turns=(), modes=("stream",), depth="full")
SUBJECT = msgspec.structs.replace(ADAPTER, paths=PATHS, capabilities={"streaming": True})


REQUIREMENTS = (requirement("core/says-good-day"), requirement("core/says-anything"))


def _says_good_day(view: View) -> Findings:
    for chunk in view.transcript.of(Chunk):
        if chunk.text == "good day":
            yield f"a greeting in {view.key}"
        else:
            yield violated(f"it said {chunk.text!r}")


def _says_anything(view: View) -> Findings:
    yield f"{len(view.transcript.of(Chunk))} words in {view.key}"


def _chunk_texts(view: View) -> list[str]:
    return [chunk.text for chunk in view.transcript.of(Chunk)]


@pytest.fixture(autouse=True)
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite of two requirements, in place of the installed one."""
    registry = Registry()
    registry.check(REQUIREMENTS[0].id)(_says_good_day)
    registry.check(REQUIREMENTS[1].id, aspect=_chunk_texts)(_says_anything)
    profiles = ProfileSet(name="2026.11", profiles={"core": tuple(one.id for one in REQUIREMENTS)})
    suite = Suite("a_suite", Catalogue(REQUIREMENTS), profiles, registry)
    monkeypatch.setattr(verify, "load_suite", lambda *_: suite)
    monkeypatch.setattr(verify, "suite_scenarios", lambda _: [*SCENARIOS, LONG])
    monkeypatch.setattr(verify, "missing_controls", lambda *_: ())  # such a run has none
    monkeypatch.setattr("turnproof.commands.certify.plan.REGISTRY", registry)
    monkeypatch.setattr("turnproof.commands.certify.second_runs.REGISTRY", registry)
    return suite


def keys() -> list[RunKey]:
    """The runs of a quick certification of both paths, which differ in the first scenario."""
    found = [RunKey(scenario.name, path) for scenario in SCENARIOS for path in PATHS]  # type: ignore[arg-type]
    return [*found, RunKey(SCENARIOS[0].name, "legacy", repeat=1)]


def transcript(key: RunKey, words: str) -> Transcript:
    return Transcript(
        adapter=SUBJECT.name,
        dialect=SUBJECT.dialect,
        model=SUBJECT.model,
        backend=SUBJECT.backend,
        key=key,
        seed=0,
        events=(TurnBegan(text="hi"), Chunk(text=words), RunEnded(how="completed")),
    )


@dataclass
class Forgery:
    """A run's lines as somebody may change them; `write` computes digests and counts anew."""

    folder: Path
    suite: Suite
    header: Header = HEADER
    requirements: Sequence[RequirementLine] = ()
    adapters: Sequence[Any] = (SUBJECT,)
    transcripts: Sequence[TranscriptLine] = ()
    results: Sequence[ResultLine] = ()
    exit_code: int = 1

    @property
    def store(self) -> EvidenceStore:
        return EvidenceStore(self.folder / "evidence")

    def write(self) -> Path:
        lines: list[Line] = [self.header, *self.requirements, *self.adapters, *self.transcripts, *self.results]
        with RunWriter(self.folder / "run.ndjson") as writer:
            for line in lines:
                writer.write(line)
            writer.finish(self.exit_code, 1.0)
        return self.folder / "run.ndjson"

    def judge(self) -> None:
        """The true verdicts on the transcripts that are there."""
        scenarios = {scenario.name: scenario for scenario in SCENARIOS}
        wire = dialect(SUBJECT.dialect)
        views = [
            View(self.store.get(line.digest), wire, scenarios[line.key.scenario], line.digest)
            for line in self.transcripts
        ]
        claimed = Claimed(Capabilities(streaming=True), (), [*SCENARIOS, LONG])
        self.results = [
            ResultLine(
                adapter=SUBJECT.name,
                requirement=one.id,
                path=path,
                verdict=decide(one, path, views, claimed, self.suite.registry),
            )
            for one in REQUIREMENTS
            for path in (PATHS if one is REQUIREMENTS[0] else (*PATHS, "parity"))
        ]


@pytest.fixture
def run(tmp_path: Path, suite: Suite) -> Forgery:
    """A true run: all is held but a greeting on the legacy path of `core/bye`, where it differs from the other path."""
    found = Forgery(tmp_path, suite, requirements=[RequirementLine.of(one, {}) for one in REQUIREMENTS])
    rude = {("core/bye", "legacy")}
    transcripts = [transcript(key, "go away" if (key.scenario, key.path) in rude else "good day") for key in keys()]
    found.transcripts = [
        TranscriptLine(adapter=SUBJECT.name, key=one.key, digest=found.store.put(one)) for one in transcripts
    ]
    found.judge()
    return found


def problems(run: Forgery) -> str:
    run.write()
    return "\n".join(verify_run(read_run(run.folder / "run.ndjson"), run.store).problems)


def test_the_true_run_is_verified(run: Forgery) -> None:
    held, violated = Status.HELD, Status.VIOLATED
    assert [line.verdict.status for line in run.results] == [held, violated, held, held, violated]
    assert problems(run) == ""


def _good(lines: Iterable[ResultLine]) -> list[ResultLine]:
    return [msgspec.structs.replace(line, verdict=held("a greeting", asked=1)) for line in lines]


def _whitewashed(run: Forgery) -> None:
    run.results, run.exit_code = _good(run.results), 0


def _run_dropped(run: Forgery) -> None:
    run.transcripts = [line for line in run.transcripts if line.key.scenario != "core/bye"]
    run.judge()
    run.exit_code = 0


def _verdict_dropped(run: Forgery) -> None:
    run.results = [line for line in run.results if line.verdict.status is Status.HELD]
    run.exit_code = 0


def _requirement_dropped(run: Forgery) -> None:
    run.requirements = run.requirements[1:]
    run.results = [line for line in run.results if line.requirement != REQUIREMENTS[0].id]
    run.exit_code = 0


def _made_a_should(run: Forgery) -> None:
    run.requirements = [msgspec.structs.replace(run.requirements[0], level="SHOULD"), run.requirements[1]]
    run.exit_code = 0


def _reworded(run: Forgery) -> None:
    run.requirements = [msgspec.structs.replace(run.requirements[0], title="It says something"), run.requirements[1]]


def _requirement_added(run: Forgery) -> None:
    run.requirements = [*run.requirements, RequirementLine.of(requirement("core/is-nice"), {})]


def _more_is_set_aside(run: Forgery) -> None:
    everything = AllowedOnly(name="core/*", reason="Nobody does that.")
    run.header = msgspec.structs.replace(run.header, allowed_only=(everything,))


def _swapped(run: Forgery) -> None:
    one, other = run.transcripts[1], run.transcripts[3]
    run.transcripts = [
        *run.transcripts[:1],
        msgspec.structs.replace(one, digest=other.digest),
        run.transcripts[2],
        msgspec.structs.replace(other, digest=one.digest),
        *run.transcripts[4:],
    ]


def _borrowed(run: Forgery) -> None:
    """The legacy runs that were rude are replaced by polite ones of the other scenario."""
    polite = {line.key.path: line for line in run.transcripts if line.key.scenario == "core/hello"}
    run.transcripts = [msgspec.structs.replace(line, digest=polite[line.key.path].digest) for line in run.transcripts]
    run.results, run.exit_code = _good(run.results), 0


def _other_seed(run: Forgery) -> None:
    run.header = msgspec.structs.replace(run.header, seed=7)


def _other_depth(run: Forgery) -> None:
    run.header = msgspec.structs.replace(run.header, depth="full")
    run.adapters = [msgspec.structs.replace(SUBJECT, backend="emulate")]


def _noise_not_measured(run: Forgery) -> None:
    run.transcripts = [line for line in run.transcripts if not line.key.repeat]
    run.judge()


def _noise_measured_in_vain(run: Forgery) -> None:
    second = transcript(RunKey("core/hello", "legacy", repeat=1), "good day")
    line = TranscriptLine(adapter=SUBJECT.name, key=second.key, digest=run.store.put(second))
    run.transcripts = [*run.transcripts, line]
    run.judge()


def _other_model(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, model="claude-opus-4-5")]


def _said_to_be_live(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, backend="live")]


def _claims_less(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, capabilities={})]


def _claims_nonsense(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, capabilities={"wings": True})]


def _one_path_less(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, paths=("stateless",))]
    run.transcripts = [line for line in run.transcripts if line.key.path == "stateless"]


def _nobody(run: Forgery) -> None:
    run.adapters = []


def _said_twice(run: Forgery) -> None:
    run.results = [*run.results, run.results[0]]


def _run_twice(run: Forgery) -> None:
    run.transcripts = [*run.transcripts, run.transcripts[0]]


def _other_exit_code(run: Forgery) -> None:
    run.exit_code = 0


def _other_end(run: Forgery) -> None:
    run.transcripts = [msgspec.structs.replace(run.transcripts[0], how="hung"), *run.transcripts[1:]]


def _rests_on_more(run: Forgery) -> None:
    first = run.results[0]
    verdict = msgspec.structs.replace(first.verdict, compared=(*first.verdict.compared, "a great deal more"))
    run.results = [msgspec.structs.replace(first, verdict=verdict), *run.results[1:]]


def _said_to_be_real(run: Forgery) -> None:
    run.adapters = [msgspec.structs.replace(SUBJECT, real=("api.anthropic.com, 2026-11-02",), real_only=True)]


FORGERIES: list[tuple[Callable[[Forgery], None], str]] = [
    (_whitewashed, "was held, and the evidence shows violated"),
    (_run_dropped, "anthropic core/bye/legacy/stream: this run has to be there and is not"),
    (_verdict_dropped, "core/says-good-day [legacy]: this verdict has to be there and is not"),
    (_requirement_dropped, "core/says-good-day: profiles 2026.11 have this requirement, and the run does not"),
    (_made_a_should, "core/says-good-day: the run has another level than profiles 2026.11"),
    (_reworded, "core/says-good-day: the run has another title than profiles 2026.11"),
    (_more_is_set_aside, "another list of scenarios that no service shows today than its suite"),
    (_requirement_added, "core/is-nice: profiles 2026.11 do not have this requirement"),
    (_swapped, "the run has run 'core/bye/legacy/stream', its evidence 'core/hello/legacy/stream'"),
    (_borrowed, "the run has run 'core/bye/legacy/stream', its evidence 'core/hello/legacy/stream'"),
    (_other_seed, "the run has seed 7, its evidence 0"),
    (_other_depth, "core/long/legacy/stream: this run has to be there and is not"),
    (_noise_not_measured, "core/bye/legacy/stream#1: this run has to be there and is not"),
    (_noise_measured_in_vain, "core/hello/legacy/stream#1: this run is there, and no part of such a run"),
    (_other_model, "the run has model 'claude-opus-4-5', its evidence 'claude-sonnet-4-5'"),
    (_said_to_be_live, "the run has backend 'live', its evidence 'emulate'"),
    (_claims_less, "this run is there, and no part of such a run"),
    (_claims_nonsense, "adapter 'anthropic': its capabilities cannot be read"),
    (_one_path_less, "core/says-good-day [legacy]"),
    (_nobody, "there are verdicts or runs of 'anthropic', and no line that names it"),
    (_said_twice, "there are 2 verdicts on anthropic core/says-good-day [stateless]"),
    (_run_twice, "there are 2 runs of anthropic core/bye/stateless/stream"),
    (_other_exit_code, "its footer has exit code 0, and its verdicts come to 1"),
    (_other_end, "the run has end 'hung', its evidence 'completed'"),
    (_said_to_be_real, "anthropic: the run names other recorded answers than its scenarios have"),
    (_rests_on_more, "has another compared than the evidence gives"),
]


@pytest.mark.parametrize(("forge", "problem"), FORGERIES, ids=[forge.__name__.strip("_") for forge, _ in FORGERIES])
def test_a_forged_run_is_noticed(run: Forgery, forge: Callable[[Forgery], None], problem: str) -> None:
    forge(run)
    assert problem in problems(run)


def test_the_words_of_another_version_are_not_compared(run: Forgery) -> None:
    run.header = msgspec.structs.replace(run.header, turnproof="0.0.9")
    _reworded(run)
    assert "another title" not in problems(run)


# -- what is edited without computing anything anew --------------------------------------------------------------


def edited(run: Forgery, change: Callable[[list[bytes]], list[bytes]]) -> str:
    path = run.write()
    path.write_bytes(b"\n".join(change(path.read_bytes().split(b"\n"))))
    return "\n".join(verify_run(read_run(path), run.store).problems)


def _with(old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda rows: [row.replace(old, new) for row in rows]


@pytest.mark.parametrize(
    "change",
    [
        _with(b'"started":"2026-11-21', b'"started":"2026-11-22'),
        _with(b'"reason":"Politeness."', b'"reason":"Whatever."'),
        _with(b'"python":"3.11.7"', b'"python":"3.14.0"'),
        _with(b'"platform":"Linux"', b'"platform": "Linux"'),
        lambda rows: [rows[0], *rows[1:-2][::-1], *rows[-2:]],
        lambda rows: [*rows[:2], *rows[3:]],
        lambda rows: [*rows[:3], rows[2], *rows[3:]],
    ],
    ids=["date", "reason", "python", "blank", "reordered", "dropped", "doubled"],
)
def test_an_edited_line_is_noticed_whatever_it_says(run: Forgery, change: Callable[[list[bytes]], list[bytes]]) -> None:
    assert "since its footer was written" in edited(run, change)


def test_a_footer_without_its_digest_is_noticed(run: Forgery) -> None:
    run.write()
    found = read_run(run.folder / "run.ndjson")
    assert isinstance(found.footer, Footer)
    assert found.footer.lines == found.lines
    assert "since its footer was written" in edited(run, _with(b',"lines":"' + found.lines.encode() + b'"', b""))


def test_counts_that_were_edited_are_noticed(run: Forgery) -> None:
    assert "its footer counts violated wrongly: 0, not 2" in edited(run, _with(b'"violated":2', b'"violated":0'))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data[:40], "cannot be read"),
        (lambda data: b"", "cannot be read"),
        (lambda data: gzip.compress(gzip.decompress(data).replace(b"go away", b"good day")), "was changed"),
        (lambda data: gzip.compress(b"{}"), "cannot be read"),
        (lambda data: gzip.compress(gzip.decompress(data)[:-1]), "cannot be read"),
    ],
    ids=["cut", "empty", "edited", "of nothing", "no JSON"],
)
def test_damaged_evidence_is_noticed(run: Forgery, damage: Callable[[bytes], bytes], problem: str) -> None:
    rude = next(line for line in run.transcripts if (line.key.scenario, line.key.path) == ("core/bye", "legacy"))
    file = run.store.path(rude.digest)
    file.write_bytes(damage(file.read_bytes()))
    assert problem in problems(run)


def test_two_evidence_files_that_change_places_are_noticed(run: Forgery) -> None:
    one, other = (run.store.path(line.digest) for line in run.transcripts[:2])
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert problems(run).count("was changed: its content has") == 2


def test_a_run_that_left_out_a_path_is_no_forgery(run: Forgery) -> None:
    """It certifies nothing, since that path counts as unmeasured; but everything in it is true."""
    run.transcripts = [line for line in run.transcripts if line.key.path == "stateless"]
    run.results = [line for line in run.results if line.path == "stateless"]
    run.exit_code = 0
    assert problems(run) == ""


def test_a_run_of_some_scenarios_says_which(run: Forgery) -> None:
    run.transcripts = [line for line in run.transcripts if line.key.scenario == "core/hello"]
    run.judge()
    run.exit_code = 0
    run.header = msgspec.structs.replace(run.header, reproduce=("--scenario", "core/h*"))
    assert problems(run) == ""


def test_another_version_is_told_where_something_differs(run: Forgery) -> None:
    run.header = msgspec.structs.replace(run.header, turnproof="9.9")
    assert problems(run) == ""
    run.exit_code = 0
    assert "the run was made with turnproof 9.9" in problems(run)


def test_the_subject_of_a_run_can_be_planned_for_without_its_code() -> None:
    line = msgspec.structs.replace(SUBJECT, capabilities={"streaming": True, "wire": ["server-tools"]})
    found = consistency.RecordedSubject.from_line(line)
    assert found.claims().claims("wire:server-tools")
    assert "other_path" in found.operations
    assert (
        "other_path"
        not in consistency.RecordedSubject.from_line(msgspec.structs.replace(line, paths=("legacy",))).operations
    )
