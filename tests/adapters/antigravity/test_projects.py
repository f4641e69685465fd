"""The project that an account asks in: given, found, or made on first use."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import AuthenticationError, Cancelled, OverloadedError, TransportError
from turnproof.messages import Message

from .emulated_gateway import Gateway
from .kit import envelope, stateless, text

HI = [Message.user("hi")]


class Replies:
    """Answers of the gateway by what is asked, in order; the last of each again and again."""

    def __init__(self, **replies: list[Any]) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.slept: list[float] = []
        self._replies = replies
        self.transport = httpx2.MockTransport(self._handle)

    def provider(self, **options: Any) -> Any:
        return stateless(transport=self.transport, sleep=self.slept.append, **{"project": None, **options})

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        name = request.url.path.rpartition(":")[2].rpartition("/")[2]
        self.requests.append((name, json.loads(request.content or b"null")))
        if name == "generateContent":
            return httpx2.Response(200, json=envelope(text("hi")))
        waiting = self._replies[name]
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return reply if isinstance(reply, httpx2.Response) else httpx2.Response(200, json=reply)


METADATA = {"ideType": "ANTIGRAVITY", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}


@pytest.mark.parametrize("project", ["p-1", {"id": "p-1", "name": "P"}], ids=["text", "object"])
def test_a_project_is_asked_for_once_and_stands_in_every_envelope(project: Any) -> None:
    replies = Replies(loadCodeAssist=[{"cloudaicompanionProject": project, "currentTier": {"id": "free-tier"}}])
    provider = replies.provider()
    for _ in range(2):
        provider.complete(HI)
    (first, load_body), *rest = replies.requests
    assert (first, load_body) == ("loadCodeAssist", {"cloudaicompanionProject": None, "metadata": METADATA})
    assert [(name, body["project"]) for name, body in rest] == [("generateContent", "p-1")] * 2


def test_a_project_that_is_given_is_not_asked_for() -> None:
    replies = Replies()
    replies.provider(project="mine").complete(HI)
    assert [(name, body["project"]) for name, body in replies.requests] == [("generateContent", "mine")]


DONE = {"name": "operations/1", "done": True, "response": {"cloudaicompanionProject": {"id": "p-2"}}}
PENDING = {"name": "operations/1", "done": False}


@pytest.mark.parametrize(
    ("tiers", "tier"),
    [
        ([{"id": "legacy-tier"}, {"id": "standard-tier", "isDefault": True}], "standard-tier"),
        ([{"id": "legacy-tier"}], "free-tier"),
        ([{"isDefault": True}], "free-tier"),
        (None, "free-tier"),
    ],
)
def test_an_account_without_one_is_onboarded_in_its_usual_tier(tiers: Any, tier: str) -> None:
    replies = Replies(loadCodeAssist=[{"allowedTiers": tiers}], onboardUser=[DONE])
    replies.provider().complete(HI)
    bodies = dict(replies.requests)
    assert bodies["onboardUser"] == {"tierId": tier, "cloudaicompanionProject": None, "metadata": METADATA}
    assert bodies["generateContent"]["project"] == "p-2"


def test_onboarding_that_takes_a_while_is_looked_after() -> None:
    replies = Replies(loadCodeAssist=[{}], onboardUser=[PENDING], **{"1": [PENDING, PENDING, DONE]})
    replies.provider().complete(HI)
    assert [name for name, _ in replies.requests] == [
        "loadCodeAssist",
        "onboardUser",
        "1",
        "1",
        "1",
        "generateContent",
    ]
    assert replies.slept == [5.0, 5.0], "the first look is at once"


@pytest.mark.parametrize(
    "onboarding",
    [{"done": True}, {"done": True, "response": {}}, {"done": False}, {}, PENDING],
    ids=["nothing", "no-project", "no-name", "empty", "never"],
)
def test_onboarding_that_gives_no_project_is_an_error_and_ends(onboarding: Any) -> None:
    replies = Replies(loadCodeAssist=[{}], onboardUser=[onboarding], **{"1": [PENDING]})
    with pytest.raises(AuthenticationError, match="no project"):
        replies.provider().complete(HI)
    assert len(replies.requests) < 20
    assert "generateContent" not in dict(replies.requests)


def test_a_failure_on_the_way_is_told_as_what_it_is() -> None:
    for reply, expected in (
        (httpx2.Response(503), OverloadedError),
        (httpx2.Response(200, text="<html>"), TransportError),
        ([], TransportError),
    ):
        with pytest.raises(expected):
            Replies(loadCodeAssist=[reply]).provider().complete(HI)


def test_a_turn_that_is_cancelled_while_it_waits_for_its_project_asks_nothing_more() -> None:
    token = CancelToken()

    def cancelled(request: httpx2.Request) -> httpx2.Response:
        token.cancel()
        return httpx2.Response(200, json=PENDING if "onboard" in str(request.url) else {})

    provider = stateless(transport=httpx2.MockTransport(cancelled), project=None)
    with pytest.raises(Cancelled):
        provider.complete(HI, cancel_token=token)


def test_a_new_account_is_onboarded_and_then_asks(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "new")
    provider.complete(HI)
    assert gateway.answer_requests == [("", "new", 200)]
    assert gateway.paths == [
        "/token",
        "/v1internal:loadCodeAssist",
        "/v1internal:onboardUser",
        "/v1internal/operations/onboard",
    ]
