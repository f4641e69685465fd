"""What Codex is told in its configuration: a file that any reader of TOML reads back as it was meant."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from turnproof.agents import AgentSetup
from turnproof.provider import Endpoint
from turnproof_adapters.acp.codex import AGENT, CODEX

ODD = 'a "quoted" \\ tab\t line\n \x7f \U0001f680'


def config(home: Path, model: str = "gpt-5.5", url: str = "http://127.0.0.1:1", system: str | None = None) -> Any:
    CODEX.prepare(AgentSetup(Endpoint(url, "sk-canary", model), str(home), str(home), system=system))
    return tomllib.loads((home / ".codex" / "config.toml").read_text("utf-8"))


def test_a_folder_with_an_emoji_is_found_again(tmp_path: Path) -> None:
    home = tmp_path / "h\U0001f680me"
    settings = config(home, system="Be brief.")
    instructions = Path(settings["model_instructions_file"])
    assert instructions == home / ".codex" / "instructions.md"
    assert instructions.read_text("utf-8") == "Be brief."


def test_any_word_is_read_back_as_it_was_given(tmp_path: Path) -> None:
    settings = config(tmp_path, model=ODD, url=f"http://127.0.0.1:1/{ODD}")
    assert settings["model"] == ODD
    assert settings["model_providers"]["turnproof"]["base_url"] == f"http://127.0.0.1:1/{ODD}/v1"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://127.0.0.1:1/", "http://127.0.0.1:1/v1/"])
def test_the_program_runs_nothing_of_its_own_and_asks_the_given_service(tmp_path: Path, url: str) -> None:
    assert config(tmp_path, url=url) == json.loads(Path(__file__).with_name("codex_settings.json").read_text("utf-8"))


def test_token_counts_are_not_claimed_as_the_program_sends_none() -> None:
    assert not AGENT.capabilities.usage
