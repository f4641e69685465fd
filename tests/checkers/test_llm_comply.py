"""llm-comply, a public checker of LLM APIs, has nothing to say against the emulator but what is listed with its reason.

It asks as a client would and holds the answers against the vendors' own descriptions. Nobody of this project wrote it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

pytest.importorskip("llm_comply", reason="llm-comply is not installed")
pytestmark = pytest.mark.long

_CONTAINER = "107 of 110 recorded answers have no `container`; the service sends it with code execution"
_CITATIONS = "118 of 137 recorded text blocks have no `citations`; the description makes the field required"


@dataclass(frozen=True)
class Format:
    """A format of the checker, the dialect that it is, and what it may object to: words of an objection, and why the
    emulator keeps what it does."""

    name: str
    dialect: str
    model: str
    tests: int
    base_path: str = ""
    listed: tuple[tuple[str, str], ...] = ()


FORMATS = (
    Format("openai-chat", "openai-chat", "gpt-4.1", 8),
    Format(
        "anthropic",
        "anthropic-messages",
        "claude-sonnet-4-5",
        9,
        "/v1",
        (
            ("'container' is a required property", _CONTAINER),
            ("'output_tokens_details' is a required property", "97 of 110 recorded answers do not have it"),
            ("'server_tool_use' is a required property", "102 of 110 recorded answers do not have it"),
            ("is not valid under any of the given schemas", _CITATIONS),
        ),
    ),
    Format("google-genai", "gemini", "gemini-3-flash-preview", 9),
    Format("open-responses", "openai-responses", "gpt-5", 13),
    Format(
        "google-interactions",
        "gemini-interactions",
        "gemini-3-flash-preview",
        9,
        listed=(
            ("no function_call step found", "the checker offers a tool and does not demand it; an echo calls none"),
            ("expected status='requires_action'", "as above"),
        ),
    ),
)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_foreign_checker_objects_to_nothing_that_is_not_listed(server: EmulatorServer, form: Format) -> None:
    run = server.open_run(dialect(form.dialect), EchoResponder(), any_key=True)
    results = checked(form, run.base_url.rstrip("/") + ("" if run.base_url.endswith("/v1") else form.base_path))

    assert len([one for one in results if one["status"] in ("passed", "failed")]) >= form.tests
    assert [one for one in objections(results) if not any(words in one for words, _ in form.listed)] == []


@pytest.mark.parametrize("form", [one for one in FORMATS if one.listed], ids=lambda form: form.name)
def test_what_is_listed_is_still_objected_to(server: EmulatorServer, form: Format) -> None:
    run = server.open_run(dialect(form.dialect), EchoResponder(), any_key=True)
    complaints = list(objections(checked(form, run.base_url.rstrip("/") + form.base_path)))

    assert [words for words, _ in form.listed if not any(words in one for one in complaints)] == []


def checked(form: Format, base_url: str) -> list[dict[str, Any]]:
    """What the checker found, a result for each of its tests."""
    command = [
        sys.executable, "-m", "llm_comply.cli", "--base-url", base_url, "--api-key", "any-key", "--model", form.model,
        "--format", form.name, "--header", "anthropic-version: 2023-06-01", "--json", "--timeout", "30",
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert ended.stdout, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)["results"]
    return found


def objections(results: list[dict[str, Any]]) -> Iterator[str]:
    """Every objection, with the test that made it."""
    for one in results:
        if one["status"] == "failed":
            yield from (f"{one['id']}: {error}" for error in one["errors"])
