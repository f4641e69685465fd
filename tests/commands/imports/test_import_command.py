"""`turnproof import` as a user runs it, and a certification in the conversations that it writes."""

from __future__ import annotations

import json
from pathlib import Path

from turnproof.scenarios import load

from ..command_line import run_turnproof
from .kit import CONVERSATION, KEY, answer, assistant, exchange, har, user, written


def test_traffic_becomes_a_scenario_that_an_adapter_is_certified_in(tmp_path: Path) -> None:
    written(tmp_path, "my bug.har", har(CONVERSATION))

    done = run_turnproof(tmp_path, "import", "my bug.har", "--out", "traffic", "--yes")
    assert done.returncode == 0, done.stderr
    assert "traffic/my_bug.yaml: 2 turns, 3 recorded answers of api.openai.com, 2026-11-02" in done.stdout
    assert "written. Next: turnproof certify NAME --scenario traffic/" in done.stdout

    only = ["--only", "core/text-is-what-the-wire-carried", "--only", "tools/results-answer-every-call"]
    certified = run_turnproof(tmp_path, "certify", "openai", "--scenario", "traffic/", *only)
    assert certified.returncode == 0, certified.stdout + certified.stderr
    report = json.loads(next(tmp_path.rglob("certification.json")).read_bytes())["adapters"]["openai"]
    folder = next(tmp_path.rglob("certification.json")).parent
    assert run_turnproof(tmp_path, "verify", str(folder)).returncode == 0
    assert report["claim"] == "replayed (real, api.openai.com, 2026-11-02)"


def test_nothing_is_written_without_a_word_of_the_user(tmp_path: Path) -> None:
    written(tmp_path, "traffic.har", har(CONVERSATION))

    done = run_turnproof(tmp_path, "import", "traffic.har")

    assert done.returncode == 2
    assert "nothing was written; --yes writes without asking" in done.stderr
    assert not (tmp_path / "imported").exists()


def test_what_is_masked_is_shown_and_is_in_no_file(tmp_path: Path) -> None:
    leaky = exchange([user(f"My key is {KEY}, and I am Jane Roe.")], answer(assistant("Keep it.")))
    written(tmp_path, "traffic.har", har([leaky]))

    done = run_turnproof(tmp_path, "import", "traffic.har", "--yes", "--mask", "Jane Roe")

    assert "masked: a key of the recorded requests, 1 time" in done.stdout
    assert "masked: a text given with --mask, 1 time" in done.stdout
    text = (tmp_path / "imported/traffic.yaml").read_text()
    assert KEY not in text + done.stdout + done.stderr
    assert "Jane Roe" not in text
    assert load(tmp_path / "imported/traffic.yaml").turns[0].user[0].text == "My key is [key], and I am [key]."  # type: ignore[union-attr]


def test_a_scenario_that_is_there_is_replaced_only_on_demand(tmp_path: Path) -> None:
    written(tmp_path, "traffic.har", har(CONVERSATION))
    run_turnproof(tmp_path, "import", "traffic.har", "--yes")

    again = run_turnproof(tmp_path, "import", "traffic.har", "--yes")
    assert again.returncode == 2
    assert "imported/traffic.yaml exists: give another folder (--out), or --force to replace it" in again.stderr

    assert run_turnproof(tmp_path, "import", "traffic.har", "--yes", "--force").returncode == 0


def test_traffic_with_no_model_in_it_is_nothing_to_write(tmp_path: Path) -> None:
    page = {"request": {"method": "GET", "url": "https://example.com/"}, "response": {"status": 200, "content": {}}}
    written(tmp_path, "page.har", {"log": {"entries": [page]}})

    done = run_turnproof(tmp_path, "import", "page.har", "--yes")

    assert done.returncode == 3
    assert "left out: page.har: no request asks a model in an API that turnproof knows" in done.stdout
