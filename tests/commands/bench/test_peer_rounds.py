"""A peer in the same rounds as an adapter: measured where it sends everything, and named where it does not."""

from __future__ import annotations

import stat
import sys
from functools import partial
from pathlib import Path

import pytest

from turnproof.commands.bench import adapter
from turnproof.commands.bench.adapter import measure_adapter
from turnproof.commands.bench.canned_provider import CannedServer
from turnproof.commands.bench.floor import FLOOR
from turnproof.commands.bench.open_callers import Plan
from turnproof.commands.bench.peers.process import PeerProcess
from turnproof.commands.bench.report import AdapterBench
from turnproof.report.progress import Silence
from turnproof.run.bindings import resolve_binding

pytestmark = [
    pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning"),
    pytest.mark.long,
]

# A `litellm` that speaks to Anthropic's API in the plainest way, with the last so many messages.
FAKE = """#!{python}
import json, runpy, sys, types, urllib.request

def completion(*, model, messages, api_key, api_base, stream=False, **options):
    said = [dict(role="assistant" if m["role"] == "assistant" else "user", content=json.dumps(m)) for m in messages]
    sent = dict(model=model.partition("/")[2], max_tokens=9, stream=stream, messages=said[-{last}:])
    headers = {{"content-type": "application/json", "x-api-key": api_key, "anthropic-version": "2023-06-01"}}
    request = urllib.request.Request(api_base + "/v1/messages", json.dumps(sent).encode(), headers)
    with urllib.request.urlopen(request) as response:
        if not stream:
            return told(json.load(response)["content"][0]["text"])
        events = [json.loads(line[5:]) for line in response if line.startswith(b"data:")]
        return [told(event["delta"]["text"]) for event in events if event["type"] == "content_block_delta"]

def told(text):
    said = types.SimpleNamespace(content=text)
    return types.SimpleNamespace(choices=[types.SimpleNamespace(message=said, delta=said)])

sys.modules["litellm"] = types.SimpleNamespace(completion=completion)
_, _, _, path, *rest = sys.argv
sys.argv = [path, *rest]
runpy.run_path(path, run_name="__main__")
"""


def measured(folder: Path, last: int) -> AdapterBench:
    """The reference adapter with a peer beside it that sends so many messages."""
    python = folder / "python"
    python.write_text(FAKE.format(python=sys.executable, last=last))
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    plan = Plan(("stateless",), (8,), 1, peers=("litellm", "langchain"))
    with pytest.MonkeyPatch.context() as patched, CannedServer() as server:
        patched.setattr(adapter, "PeerProcess", partial(PeerProcess, python=python))
        return measure_adapter("anthropic", resolve_binding("anthropic"), plan, server, Silence())


def test_a_peer_that_sends_everything_is_one_more_caller(tmp_path: Path) -> None:
    found = measured(tmp_path, 99)
    assert {time.figure for time in found.times if time.caller == "litellm"} == {
        "turn",
        "stream",
        "first-delta",
        "delta",
    }
    compared = {(ratio.caller, ratio.to) for ratio in found.ratios if ratio.figure == "turn"}
    assert {("litellm", FLOOR), ("stateless", "litellm"), ("stateless", "messages.create")} <= compared
    assert [(peer.name, peer.package) for peer in found.peers] == [
        ("litellm", "litellm mcp"),
        ("langchain", "langchain-anthropic"),
    ]
    # There is no such library in that Python: it is said, and nobody else suffers.
    assert found.problems
    assert all(problem.startswith("langchain, ") and "langchain_core" in problem for problem in found.problems)


def test_a_peer_that_leaves_messages_out_is_not_measured(tmp_path: Path) -> None:
    found = measured(tmp_path, 3)
    assert not [time for time in found.times if time.caller == "litellm"]
    assert "turn, litellm, 8 messages: ProviderError: it does not send the whole history" in found.problems
