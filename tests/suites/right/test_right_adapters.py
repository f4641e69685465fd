"""Adapters that are right in an unusual way: nothing that was held without them is undecided or violated with them."""

from __future__ import annotations

import json
import re
from collections import Counter
from threading import get_ident
from typing import Any, get_args

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.options import MutantsOptions
from turnproof.commands.certify.right import right, right_adapters
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.cli import main
from turnproof.dialects import api_of
from turnproof.errors import CatalogueError, OverloadedError
from turnproof.judge.requirements import load_suite
from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.provider import OnChunk
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.mutation import mutant_named
from turnproof.run.transcript import RunKey, Transcript, WireRequest
from turnproof_suites.right import RIGHT, RightAdapter
from turnproof_suites.right._right import Freedom, right_rows
from turnproof_suites.right._right import right as declare
from turnproof_suites.right.vendor_schemas import Illegality, illegal_places

from .page import BEGIN, END, PAGE, table


def test_an_error_without_cause_shows_nothing_of_what_an_sdk_raised() -> None:
    adapter = next(one for one in right_adapters().values() if one.name == "errors-without-cause")
    assert adapter.wrap is not None

    class Failing:
        def complete(self, *messages: object, **options: object) -> None:
            raise OverloadedError("Try later.", retry_after=3.0) from ConnectionError("of the SDK")

    with pytest.raises(OverloadedError, match=re.escape("Try later.")) as raised:
        adapter.wrap(Failing(), "stateless").complete([Message.user("Which?")])
    assert (raised.value.__cause__, raised.value.__context__, raised.value.retry_after) == (None, None, 3.0)


def test_every_row_has_a_class_and_every_class_a_row() -> None:
    assert list(right_rows()) == [one.name for one in RIGHT.values()]
    with pytest.raises(CatalogueError, match=r"right\.toml: no adapter is named 'upside-down'.*add a \[\[adapter\]\]"):
        declare("upside-down")


SAMPLE = (
    "tools-prefixed",
    "user-named",
    "usage-told-twice",
    "finish-by-the-word",
    "errors-of-own-classes",
    "system-in-two-blocks",
    "other-limit-of-tokens",
    "blocks-in-messages-of-their-own",
    "detail-spelled-out",
    "chunks-by-word",
)

SHOWING = (
    "basics/plain",
    "basics/text_in_blocks",
    "faults/refused",
    "finish/reasons",
    "media/images_only",
    "tools/one",
    "tools/parallel",
)
"""What the sample does shows in these scenarios; `nox -s strangers` has all adapters in all of theirs."""


@pytest.fixture
def few_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite has a few scenarios alone."""
    few = [one for one in suite_scenarios(load_suite()) if one.name in SHOWING]
    assert len(few) == len(SHOWING)
    monkeypatch.setattr("turnproof.commands.certify.right.suite_scenarios", lambda suite: few)


@pytest.mark.usefixtures("few_scenarios")
def test_a_sample_is_accused_of_nothing_and_changes_what_goes_over_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    code = right(MutantsOptions(adapter="openai", only=SAMPLE, json=True))
    rows = json.loads(capsys.readouterr().out)
    assert code == Exit.OK
    assert {row["adapter"] for row in rows} == set(SAMPLE)
    assert [row["accused"] for row in rows] == [{}] * len(SAMPLE)
    assert all(row["changed"] > 0 for row in rows)


@pytest.mark.usefixtures("few_scenarios")
def test_what_evidence_does_not_have_needs_no_run_that_differs(capsys: pytest.CaptureFixture[str]) -> None:
    code = right(MutantsOptions(adapter="openai", only=("calls-in-a-thread",)))
    assert code == Exit.OK
    assert re.search(r"✓ calls-in-a-thread: \d+ runs, and evidence does not have what differs", capsys.readouterr().out)


class _Speaker:
    """An adapter that hands on two pieces and returns their text."""

    def complete(self, messages: object, *rest: object, on_chunk: OnChunk | None = None, **options: object) -> Any:
        assert on_chunk is not None
        on_chunk("Bed 3 ")
        on_chunk("is dry.")
        return ProviderResponse((Text("Bed 3 is dry."),), finish_reason=FinishReason.STOP)


@pytest.mark.parametrize("name", ["calls-in-a-thread", "calls-in-a-loop", "callbacks-through-a-queue"])
def test_callbacks_come_from_another_thread_in_their_order_and_before_the_call_returns(name: str) -> None:
    adapter = next(one for one in right_adapters().values() if one.name == name)
    assert adapter.wrap is not None
    chunks: list[tuple[str, int]] = []
    wrapped = adapter.wrap(_Speaker(), "stateless")
    answer = wrapped.complete([Message.user("Which?")], on_chunk=lambda text: chunks.append((text, get_ident())))
    assert [text for text, _ in chunks] == ["Bed 3 ", "is dry."]
    assert get_ident() not in {thread for _, thread in chunks}
    assert answer.text == "Bed 3 is dry."


def test_a_right_adapter_that_the_claims_leave_out_is_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    code = right(MutantsOptions(adapter="openai", only=("signatures-*",)))
    assert code == Exit.UNDECIDED
    assert "– signatures-under-another-key: not claimed: thinking" in capsys.readouterr().out


@pytest.mark.parametrize("shown", ["tools/one", "media/images_only"])
@pytest.mark.parametrize("subject", ["anthropic", "google_genai", "openai"])
def test_their_requests_are_legal_by_what_the_vendor_publishes(subject: str, shown: str) -> None:
    scenario = next(one for one in suite_scenarios(load_suite()) if one.name == shown)
    names = [name for name, one in RIGHT.items() if one.applies_to(shown, "stateless") and _speaks(subject, one)]
    specs = [RunSpec(subject, scenario, RunKey(shown, "stateless", "batch"), name) for name in (None, *names)]
    illegal: dict[str | None, list[Illegality]] = {}
    with Runner(in_process=True) as runner:
        runner.run_all(specs, lambda spec, transcript: illegal.update({spec.mutant: _illegal(transcript)}))
    own = {place.reason for place in illegal[None]}
    for mutant, places in illegal.items():
        # A schema may lag behind its service: what counts is what the freedom adds.
        assert [place for place in places if place.reason not in own] == [], mutant


def _speaks(subject: str, adapter: RightAdapter) -> bool:
    return not adapter.dialects or api_of(resolve_subject(subject).dialect) in adapter.dialects


def _illegal(transcript: Transcript) -> list[Illegality]:
    requests = [one for one in transcript.of(WireRequest) if one.operation == "generate"]
    assert requests
    different = {one.raw: one for one in requests}.values()
    return [place for one in different for place in illegal_places(transcript.dialect, one.body, one.headers)]


@pytest.mark.parametrize("wrong", [("--combine", "2"), ("--right", "--out", "reports")])
def test_options_that_do_not_go_together_are_refused(wrong: tuple[str, ...]) -> None:
    assert main(["mutants", "openai", *wrong]) == Exit.FAULT


def test_an_unknown_name_has_a_hint() -> None:
    with pytest.raises(CatalogueError, match=re.escape("no right adapter matches 'tools-prefix'")):
        right(MutantsOptions(adapter="openai", only=("tools-prefix",)))


def test_two_at_once_are_one_mutant_with_the_paths_of_both() -> None:
    names = {mutant.name: name for name, mutant in right_adapters().items()}
    both = mutant_named(f"{names['schemas-closed']}+{names['tools-prefixed']}")
    assert both.paths == ("stateless",)
    assert both.wrap is not None
    assert both.filter is not None


def test_each_says_what_it_does_and_where_it_shows() -> None:
    for mutant in RIGHT.values():
        assert mutant.breaks.endswith(".")
        assert mutant.scenarios


def test_each_name_stands_once() -> None:
    assert len({mutant.name for mutant in RIGHT.values()}) == len(RIGHT)


def test_every_freedom_has_three_adapters_or_more() -> None:
    counts = Counter(mutant.freedom for mutant in RIGHT.values())
    assert set(counts) == set(get_args(Freedom))
    assert min(counts.values()) >= 3


def test_a_library_is_named_by_its_repository_and_a_file_in_it() -> None:
    libraries = [mutant.seen_in for mutant in RIGHT.values() if mutant.seen_in is not None]
    assert len(libraries) >= 20
    for library in libraries:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/blob/HEAD/[\w./-]+\.(py|ts)", library.address)


def test_the_page_has_the_table_of_all_of_them() -> None:
    assert PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0] == table(), "python -m tests.suites.right.page"
