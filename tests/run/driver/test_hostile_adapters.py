"""Adapters that hand back anything: the fault is told as theirs, and what they did can be read again.

In this process: what a worker sends is the same, and a fault of ours would come out here as it is.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import force_setattr

from turnproof.dialects.base import ReplyPart
from turnproof.errors import InvalidRequestError, ProviderError, RateLimitError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import Binding, Capabilities
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Failed, Response, RunKey, Transcript, WireResponse
from turnproof.scenarios.model import Scenario, ScriptRound, Turn
from turnproof.wire.emulator.responders import ScriptResponder

from .toys import Plain

Act = Callable[[Plain, dict[str, Any]], Any]

ANSWER = ProviderResponse((Text("ok"),), TokenUsage(1, 1, 2), FinishReason.STOP)
SCENARIO = Scenario(
    name="toy/talk",
    title="Talk",
    turns=(Turn(user=(Text("hi"),), rounds=(ScriptRound((ReplyPart(Text("ok")),), FinishReason.STOP),)),),
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Unwritable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")

    def __reduce__(self) -> Any:
        raise TypeError("not to be sent")


def returning(**fields: Any) -> Act:
    return lambda toy, callbacks: ProviderResponse(**{"parts": (Text("ok"),), **fields})


def tampered(**fields: Any) -> Act:
    """An answer that was changed behind the back of its type."""

    def act(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
        answer = ProviderResponse((Text("ok"),))
        for name, value in fields.items():
            force_setattr(answer, name, value)
        return answer

    return act


def tampered_text(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
    text = Text("ok")
    force_setattr(text, "text", 5)
    return ProviderResponse((text,))


def telling(callback: str, value: Any) -> Act:
    def act(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
        callbacks[callback](value)
        return ANSWER

    return act


def failing(error: Callable[[], BaseException]) -> Act:
    def act(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
        raise error()

    return act


def changed(error: ProviderError, **fields: Any) -> Callable[[], ProviderError]:
    for name, value in fields.items():
        setattr(error, name, value)
    return lambda: error


FAULTY: dict[str, tuple[Act, str]] = {
    "parts that are none": (returning(parts=None), "PayloadError"),
    "parts of dicts": (returning(parts=({"text": "x"},)), "PayloadError"),
    "no usage": (returning(usage=None), "PayloadError"),
    "figures that are none": (lambda toy, callbacks: TokenUsage(None, 1), "PayloadError"),  # type: ignore[arg-type]
    "another word for the end": (returning(finish_reason="fine"), "PayloadError"),
    "a tampered usage": (tampered(usage=None), "PayloadError"),
    "a tampered text": (tampered_text, "ValidationError"),
    "structured output without end": (returning(structured_output=nested(5_000)), "RecursionError"),
    "structured output without a text": (returning(structured_output=Unwritable()), "RuntimeError"),
    "a chunk of bytes": (telling("on_chunk", b"x"), "ContractError"),
    "a chunk that is none": (telling("on_chunk", None), "ContractError"),
    "thinking that is none": (telling("on_thinking", None), "ContractError"),
    "usage as a dict": (telling("on_usage_update", {"total": 1}), "ContractError"),
    "usage that cannot be sent": (telling("on_usage_update", Unwritable()), "ContractError"),
    "a call as a dict": (telling("on_function_call", {"name": "f"}), "ContractError"),
    "an error without a text": (failing(Mute), "Mute"),
    "half of a pair in an error": (failing(lambda: InvalidRequestError("\ud800")), "InvalidRequestError"),
    "a status of words": (failing(changed(InvalidRequestError("x"), status="bad")), "InvalidRequestError"),
    "a status that cannot be sent": (
        failing(changed(InvalidRequestError("x"), status=Unwritable())),
        "InvalidRequestError",
    ),
    "a truth that cannot be sent": (
        failing(changed(InvalidRequestError("x"), retryable=Unwritable())),
        "InvalidRequestError",
    ),
    "a delay of words": (failing(changed(RateLimitError("x"), retry_after="5")), "RateLimitError"),
    "a delay that is no number": (failing(changed(RateLimitError("x"), retry_after=float("nan"))), "RateLimitError"),
}

FINE: dict[str, Act] = {
    "anything as raw": returning(raw=Unwritable()),
    "structured output that JSON lacks": returning(structured_output=[float("nan"), {1, 2}, b"x"]),
    "half of a pair": returning(parts=(Text("a\ud800"),), model="\udfff"),
    "the end as a word": returning(finish_reason="stop"),
}


def binding(act: Act) -> Binding:
    class Toy(Plain):
        def complete(self, *_: Any, **callbacks: Any) -> Any:
            return act(self, callbacks)

    capabilities = Capabilities(streaming=True)
    return Binding("toy", "anthropic-messages", "claude-sonnet-4-5", capabilities, open_stateless=Toy)


def run(runner: Runner, subject: str) -> Transcript:
    return runner.run(RunSpec(subject, SCENARIO, RunKey(SCENARIO.name, "stateless", "stream")))


def assert_readable(transcript: Transcript, folder: Path) -> None:
    store = EvidenceStore(folder)
    assert store.verify(store.put(transcript)) is None


@pytest.fixture(scope="module")
def runner() -> Any:
    acts = {name: act for name, (act, _) in FAULTY.items()} | FINE
    with Runner(in_process=True, bindings={name: binding(act) for name, act in acts.items()}) as opened:
        yield opened


@pytest.mark.parametrize("fault", FAULTY)
def test_what_is_no_answer_is_the_adapters_own_failed_call(runner: Runner, fault: str, tmp_path: Path) -> None:
    transcript = run(runner, fault)
    assert transcript.end.how == "completed"
    failures = transcript.of(Failed)
    assert {(failure.scope, failure.error) for failure in failures} == {
        ("call", FAULTY[fault][1]),
        ("turn", FAULTY[fault][1]),
    }
    assert not any(failure.from_callback for failure in failures)
    assert transcript.of(Response) == []
    assert_readable(transcript, tmp_path)


@pytest.mark.parametrize("oddity", FINE)
def test_what_is_only_odd_is_on_record(runner: Runner, oddity: str, tmp_path: Path) -> None:
    transcript = run(runner, oddity)
    assert (transcript.end.how, transcript.of(Failed)) == ("completed", [])
    assert len(transcript.of(Response)) == 1
    assert_readable(transcript, tmp_path)


def asking(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
    return Plain.complete(toy, [Message.user("hi")])


def lying(toy: Plain, callbacks: dict[str, Any]) -> ProviderResponse:
    """Says that its body is packed, and it is not."""
    url = urlsplit(toy.endpoint.base_url)
    line = http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)
    line.request("POST", f"{url.path}/v1/messages", b"{}", {"content-encoding": "gzip", "x-api-key": "k"})
    line.getresponse().read()
    line.close()
    return ANSWER


class Broken(ScriptResponder):
    async def answer(self, *_: Any) -> Any:
        raise ZeroDivisionError("in the server")


class BrokenServer:
    def backend_for(self, spec: RunSpec) -> Any:
        return "emulate"

    def responder(self, *_: Any) -> Broken:
        return Broken()

    def finished(self, *_: Any) -> None: ...

    def closed(self, *_: Any) -> str:
        return ""


def test_a_server_that_breaks_is_our_fault_and_not_the_adapters() -> None:
    with Runner(in_process=True, responders=BrokenServer(), bindings={"toy": binding(asking)}) as runner:
        ended = run(runner, "toy").end
    assert (ended.how, ended.detail) == ("harness-fault", "the server failed: ZeroDivisionError: in the server")


def test_a_body_that_is_not_encoded_as_it_says_is_refused() -> None:
    with Runner(in_process=True, bindings={"toy": binding(lying)}) as runner:
        transcript = run(runner, "toy")
    assert transcript.end.how == "completed"
    assert [answer.status for answer in transcript.of(WireResponse)] == [401]
