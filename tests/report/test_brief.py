"""The page of one screen and the picture of an adapter: what they say, to whom, and what they never load."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from turnproof.judge.requirements import PROFILES
from turnproof.judge.run_log import AdapterLine, Run
from turnproof.provider import Capabilities
from turnproof.report import write_reports
from turnproof.report.areas import area, claim_in_words
from turnproof.report.brief import brief_html
from turnproof.report.certification import certification
from turnproof.report.picture import picture_svg
from turnproof.run.evidence import EvidenceStore

from .page import Page
from .runs import ADAPTER, CATALOGUE, GOOD, HEADER, HOSTILE, RESULTS, requirement, result, write_run
from .verdicts import BAD

TODAY = msgspec.structs.replace(HEADER, allowed_only=())
LOSS = "A cancelled answer loses its text."
WITH_EFFECTS = [msgspec.structs.replace(line, effect=f"{line.id} is noticed.") for line in CATALOGUE]
SVG = "{http://www.w3.org/2000/svg}"


def page(run: Run, name: str = "anthropic") -> Page:
    return Page(brief_html(run, certification(run), name))


def test_it_says_what_does_not_work_in_the_words_of_a_user(tmp_path: Path) -> None:
    adapter = msgspec.structs.replace(ADAPTER, paths=("stateless", "legacy"))
    run = write_run(tmp_path / "run.ndjson", RESULTS, catalogue=WITH_EFFECTS, header=TODAY, adapters=[adapter])
    text = page(run).text
    assert "tools/results-answer-every-call is noticed." in text
    assert "on the legacy path alone" in text
    assert "core/text-arrives is noticed." not in text, "what is held is told by its title"
    assert "Title of core/text-arrives" in text
    assert "Title of core/order-kept" in text, "what is undecided is told by its title"
    assert "Works with today's models ✗ no" in text
    assert "Keeps the whole contract ✗ no 1 of 3 MUSTs held, 1 violated, 1 undecided" in text


def test_a_run_without_such_sentences_is_told_by_its_titles(tmp_path: Path) -> None:
    text = page(write_run(tmp_path / "run.ndjson")).text
    assert "Title of tools/results-answer-every-call: no." in text
    assert "Works with today's models ✗" not in text


def test_the_area_with_the_most_musts_comes_first_and_musts_before_shoulds(tmp_path: Path) -> None:
    catalogue = [
        requirement("core/nice", "SHOULD", effect="Minor."),
        requirement("tools/one", "SHOULD", effect="Third."),
        requirement("tools/two", effect="First."),
        requirement("tools/three", effect="Second."),
        requirement("cancellation/text", effect=LOSS),
    ]
    results = [result(line.id, path, BAD) for line in catalogue for path in ("stateless", "legacy")]
    text = page(write_run(tmp_path / "run.ndjson", results, catalogue=catalogue)).text
    places = [text.index(words) for words in ("First.", "Second.", "Third.", LOSS, "Minor.")]
    assert places == sorted(places)


def test_of_many_violations_a_dozen_is_open_and_the_rest_is_folded(tmp_path: Path) -> None:
    catalogue = [requirement(f"core/rule-{number}", effect=f"Effect {number}.") for number in range(30)]
    results = [result(line.id, "stateless", BAD) for line in catalogue]
    found = page(write_run(tmp_path / "run.ndjson", results, catalogue=catalogue))
    assert "18 more sentences" in found.text
    assert all(f"Effect {number}." in found.text for number in range(30))


def test_it_names_the_proof_the_model_the_day_and_the_versions(tmp_path: Path) -> None:
    text = page(write_run(tmp_path / "run.ndjson", GOOD, header=TODAY)).text
    for words in (
        "claude-sonnet-4-5",
        "emulated",
        "21 November 2026",
        "turnproof 0.1.0",
        "anthropic 2.12.0",
        "2026.11",
    ):
        assert words in text


def test_what_is_not_claimed_is_said_in_words(tmp_path: Path) -> None:
    found = page(write_run(tmp_path / "run.ndjson", GOOD))
    assert "What it does not claim thinking." in found.text


def test_a_cut_run_says_so_and_claims_nothing(tmp_path: Path) -> None:
    text = page(write_run(tmp_path / "run.ndjson", GOOD, header=TODAY, exit_code=None)).text
    assert "This run was cut." in text
    assert "✓ yes" not in text


def test_it_leads_to_the_report_and_the_report_leads_to_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson")
    write_reports(run, tmp_path, EvidenceStore(tmp_path / "evidence"))
    index = Page((tmp_path / "index.html").read_text())
    assert "brief-anthropic.html" in index.attributes("href")
    brief = Page((tmp_path / "brief-anthropic.html").read_text())
    places = {link.removeprefix("index.html#") for link in brief.attributes("href") if link.startswith("index.html#")}
    assert places
    assert places <= set(index.attributes("id"))


def test_files_of_adapters_that_are_gone_are_removed(tmp_path: Path) -> None:
    for name in ("brief-old.html", "picture-old.svg"):
        (tmp_path / name).write_text("")
    write_reports(write_run(tmp_path / "run.ndjson"), tmp_path, EvidenceStore(tmp_path / "evidence"))
    assert sorted(path.name for path in tmp_path.glob("*-*.*") if path.suffix in (".html", ".svg")) == [
        "brief-anthropic.html",
        "picture-anthropic.svg",
    ]


def hostile(tmp_path: Path) -> Run:
    adapter = AdapterLine(name=HOSTILE, spec="x", dialect="anthropic-messages", model=HOSTILE, backend="emulate")
    catalogue = [requirement("core/text-arrives", effect=HOSTILE, title=HOSTILE)]
    results = [result("core/text-arrives", "stateless", BAD, adapter=HOSTILE)]
    return write_run(
        tmp_path / "run.ndjson", results, header=TODAY, adapters=[adapter], catalogue=catalogue, problems=(HOSTILE,)
    )


def test_markup_from_an_adapter_is_text_and_nothing_is_loaded_or_run(tmp_path: Path) -> None:
    run = hostile(tmp_path)
    html = brief_html(run, certification(run), HOSTILE)
    found = Page(html)
    assert not [tag for tag, _ in found.tags if tag in ("script", "img", "iframe", "object")]
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert "\x1b" not in html
    (policy,) = [value for value in found.attributes("content") if value.startswith("default-src")]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


# -- the picture ------------------------------------------------------------------------------------------------------


def test_the_picture_says_where_the_adapter_stands_also_to_those_who_cannot_see_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", GOOD, header=TODAY)
    root = ElementTree.fromstring(picture_svg(certification(run), "anthropic"))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    (title,) = root.findall(f"{SVG}title")
    (description,) = root.findall(f"{SVG}desc")
    assert title.text == "turnproof: anthropic is certified"
    for words in ("Works with today's models: yes", "Keeps the whole contract: yes", "emulated", "21 November 2026"):
        assert words in (description.text or "")
    shown = " ".join("".join(one.itertext()) for one in root.findall(f"{SVG}text"))
    assert "✓ yes" in shown


def test_the_picture_of_a_hostile_name_is_text_and_loads_nothing(tmp_path: Path) -> None:
    svg = picture_svg(certification(hostile(tmp_path)), HOSTILE)
    root = ElementTree.fromstring(svg)
    assert {one.tag for one in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "desc", "style", "rect", "text", "tspan")
    }
    assert not re.search(r"url\(|@import|@font-face|href", svg)


# -- the words --------------------------------------------------------------------------------------------------------


def test_every_profile_and_every_claim_has_words() -> None:
    assert not [name for name in PROFILES if area(name) == name]
    assert not [name for name in Capabilities.__slots__ if name != "wire" and not claim_in_words(name)]
    assert not [name for name in Capabilities.__slots__ if "_" in claim_in_words(name)]
    assert claim_in_words("wire:refusals") == ""
    assert claim_in_words("cache:managed") == "a stored prompt cache"
