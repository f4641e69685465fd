"""What the model's service refuses, as it comes out behind a program: typed, not kept, and no hindrance to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnproof import errors

from ..emulated_conversation import SYSTEM
from .kit import REAL, WHICH, bench, roles_and_texts

REFUSED = [
    (400, errors.InvalidRequestError),
    (401, errors.AuthenticationError),
    (403, errors.AuthenticationError),
    (404, errors.InvalidRequestError),
    (429, errors.RateLimitError),
    (500, errors.OverloadedError),
    (503, errors.OverloadedError),
]
if WHICH == "claude":
    REFUSED.append((529, errors.OverloadedError))


def script(fault: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": "A refusal between two answers",
        "system": SYSTEM,
        "turns": [
            {"user": "The frost came early.", "model": [["Cover the dahlias."]]},
            {
                "user": "Tell me about them.",
                "model": [["They are ", "from ", "Mexico."]],
                "faults": {"times": 9, **fault},
                **({"error": "TransportError"} if fault.get("times") != 1 else {}),
            },
            {"user": "What should I cover?", "model": [["The dahlias."]]},
        ],
    }


@pytest.mark.parametrize(("status", "kind"), REFUSED)
def test_a_refusal_is_typed_and_the_session_goes_on(
    tmp_path: Path, status: int, kind: type[errors.ProviderError]
) -> None:
    chunks: list[str] = []
    with bench(tmp_path, script({"kind": "status", "status": status})) as at:
        agent = at.open(tools=False)
        at.api.arm(0)
        agent.send("The frost came early.")
        at.api.arm(1)
        with pytest.raises(kind) as failure:
            agent.send("Tell me about them.", on_chunk=chunks.append)
        # Real programs word some of them without their number.
        assert failure.value.status == status or (REAL is not None and failure.value.status is None)
        assert chunks == []
        assert roles_and_texts(agent.history) == [("user", "The frost came early."), ("model", "Cover the dahlias.")]
        at.api.arm(2)
        assert agent.send("What should I cover?").text == "The dahlias."


@pytest.mark.parametrize("fault", ["reset", "error-event"])
def test_an_answer_that_breaks_off_for_good_is_an_error_and_not_kept(tmp_path: Path, fault: str) -> None:
    if (WHICH, fault) == ("gemini", "error-event"):
        pytest.skip("Gemini CLI takes an error inside of a stream for its end, and says that the answer is whole")
    with bench(tmp_path, script({"kind": fault, "after": "text:2"})) as at:
        agent = at.open(tools=False)
        at.api.arm(0)
        agent.send("The frost came early.")
        at.api.arm(1)
        with pytest.raises((errors.TransportError, errors.OverloadedError)):
            agent.send("Tell me about them.", on_chunk=print)
        assert roles_and_texts(agent.history) == [("user", "The frost came early."), ("model", "Cover the dahlias.")]
        at.api.arm(2)
        assert agent.send("What should I cover?").text == "The dahlias."


def test_an_answer_that_breaks_off_once_is_an_error_or_is_told_anew(tmp_path: Path) -> None:
    with bench(tmp_path, script({"kind": "reset", "after": "text:2", "times": 1})) as at:
        agent = at.open(tools=False)
        at.api.arm(1)
        try:
            text = agent.send("Tell me about them.", on_chunk=print).text
        except errors.ProviderError:
            text = None
            assert list(agent.history) == []
        # Codex tells it anew without a word on where: that cannot be told from a longer answer.
        again = "They are They are from Mexico." if WHICH == "codex" else None
        assert text in (None, "They are from Mexico.", again)
        at.api.arm(2)
        assert agent.send("What should I cover?").text == "The dahlias."
