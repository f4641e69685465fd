"""The reference adapter of the Responses API at its other surfaces, in a sample of the scenarios over real HTTP.

Where a surface keeps nothing, or chains otherwise than OpenAI, its stateless path is certified alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turnproof._base.settings import load_config
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.run_log import read_run
from turnproof.judge.verdict import Status
from turnproof.provider import Binding, Capabilities
from turnproof_adapters.openai_responses.binding import BINDING, capabilities

SCENARIOS = ("basics/plain", "tools/parallel", "thinking/with_tools", "stored/plain_text", "faults/overloaded")


def _of_llamacpp(model: str) -> Capabilities:
    return replace(capabilities(model), documents=False, opaque_thinking=False)


def _stateless(surface: str, model: str) -> Binding:
    return replace(BINDING, name=surface, dialect=f"openai-responses@{surface}", model=model, open_legacy=None)


AZURE = replace(BINDING, name="azure", dialect="openai-responses@azure")
XAI = _stateless("xai", "grok-4.3")
OPENROUTER = _stateless("openrouter", "openai/gpt-5")
LLAMACPP = replace(_stateless("llamacpp", "made-up"), capabilities=_of_llamacpp)


@pytest.mark.parametrize(("name", "held"), [("AZURE", 120), ("XAI", 60), ("OPENROUTER", 60), ("LLAMACPP", 55)])
def test_the_reference_adapter_violates_nothing_at_a_surface(name: str, held: int, tmp_path: Path) -> None:
    options = CertifyOptions(
        (f"{__name__}:{name}",),
        scenarios=SCENARIOS,
        backend="emulate",
        out=tmp_path / "out",
        config=load_config(tmp_path),
        in_process=True,
    )
    certify(options)
    results = read_run(tmp_path / "out/run.ndjson").results
    statuses: dict[str, set[str]] = {}
    for line in results:
        statuses.setdefault(line.requirement, set()).add(line.verdict.status)
    assert [requirement for requirement, found in statuses.items() if "violated" in found] == []
    assert [line.verdict.status for line in results].count(Status.HELD) >= held
    decided = {requirement: found - {"not-claimed"} for requirement, found in statuses.items()}
    assert decided["core/no-request-is-refused"] == {"held"}
    assert decided["stored/nothing-is-sent-twice"] == ({"held"} if name == "AZURE" else set())
