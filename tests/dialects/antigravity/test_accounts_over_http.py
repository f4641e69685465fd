"""Accounts, tokens, quotas and hosts, as a client meets them over a real socket.

The tables of refusals show each rule by itself; here it is seen that a client can get by what it meets, and must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.antigravity.accounts import LIFETIME, PERIOD
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import Fault, Turn
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun

from .builders import CLAUDE, GEMINI, KEY, refresh_token
from .client import CONTENTS, Client

Dial = Callable[..., Client]


@pytest.fixture
def run(server: EmulatorServer) -> Iterator[ServerRun]:
    opened = server.open_run(DIALECT, ScriptResponder(), keys=frozenset({KEY}))
    yield opened
    server.close_run(opened)


@pytest.fixture
def dial(run: ServerRun) -> Iterator[Dial]:
    """A client with these accounts, and these hosts."""
    clients = []

    def dialled(*accounts: str, hosts: tuple[str, ...] = ("",)) -> Client:
        addresses = [f"{run.base_url}{host}" for host in hosts]
        clients.append(Client([refresh_token(name) for name in accounts], addresses, f"{run.base_url}/token"))
        return clients[-1]

    yield dialled
    for client in clients:
        client.http.close()


def answer_requests(run: ServerRun) -> list[tuple[str, str, int]]:
    """For every request for an answer the host, the project and the status."""
    found = []
    for exchange in run.exchanges:
        host, _, verb = exchange.request.path.partition("/v1internal:")
        if verb == "generateContent":
            assert exchange.done.wait(60)
            project = getattr(exchange.call, "project", "").removeprefix("turnproof-")
            found.append((host.removeprefix("/"), project, exchange.status))
    return found


def test_a_refresh_gives_a_token_that_is_good_for_an_hour(run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    answer = client.refresh(client.accounts[0]).json()
    assert (answer["expires_in"], answer["token_type"]) == (3599, "Bearer")
    assert client.generate().status_code == 200
    run.clock_offset += LIFETIME - 1
    assert client.post(client.accounts[0], "loadCodeAssist", {}).status_code == 200
    run.clock_offset += 1
    refused = client.post(client.accounts[0], "loadCodeAssist", {})
    assert (refused.status_code, refused.json()["error"]["status"]) == (401, "UNAUTHENTICATED")


def test_an_expired_token_is_refreshed_and_the_request_made_again(run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    assert client.generate().status_code == 200
    run.clock_offset += LIFETIME
    assert client.generate().status_code == 200
    assert answer_requests(run) == [("", "main", 200), ("", "main", 401), ("", "main", 200)]


def test_a_token_may_be_refused_before_its_time(run: ServerRun, dial: Dial) -> None:
    client = dial("stale")
    assert client.refresh(client.accounts[0]).status_code == 200
    assert client.post(client.accounts[0], "loadCodeAssist", {}).status_code == 401
    assert client.generate().status_code == 200


def test_a_key_of_the_world_is_an_access_token_of_its_own(run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    client.tokens[client.accounts[0]] = KEY
    assert client.generate().status_code == 200
    run.clock_offset += LIFETIME
    assert client.generate().status_code == 200
    assert [exchange.operation for exchange in run.exchanges].count("authenticate") == 0


def test_a_revoked_account_is_left_for_the_next(run: ServerRun, dial: Dial) -> None:
    client = dial("revoked", "second")
    refused = client.refresh(client.accounts[0])
    assert refused.status_code == 400
    assert refused.json() == {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}
    assert client.generate().status_code == 200
    assert answer_requests(run) == [("", "second", 200)]


def test_no_other_key_gives_a_token(run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    client.accounts[0] = refresh_token("main", "somebody-elses")
    assert client.generate().json()["error"] == "invalid_grant"


def test_every_run_has_its_own_tokens(server: EmulatorServer, run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    assert client.generate().status_code == 200
    other = server.open_run(DIALECT, ScriptResponder(), keys=frozenset({KEY}))
    client.hosts = [other.base_url]
    assert client.post(client.accounts[0], "loadCodeAssist", {}).status_code == 401


# -- quotas


def test_an_account_without_quota_is_left_for_the_next(run: ServerRun, dial: Dial) -> None:
    assert dial("spent", "second").generate().status_code == 200
    assert answer_requests(run) == [("", "spent", 429), ("", "second", 200)]


def test_without_another_account_the_refusal_says_when_the_quota_is_back(run: ServerRun, dial: Dial) -> None:
    answer = dial("spent").generate(CLAUDE)
    error = answer.json()["error"]
    assert "retry-after" not in answer.headers
    assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert error["message"].endswith("Your quota will reset after 5h0m0s.")
    info, retry = error["details"]
    assert (info["reason"], info["domain"]) == ("QUOTA_EXHAUSTED", "cloudcode-pa.googleapis.com")
    assert info["metadata"]["model"] == CLAUDE
    assert info["metadata"]["quotaResetDelay"] == "5h0m0s"
    assert retry["retryDelay"] == "18000s"
    read = DIALECT.read_response(429, answer.headers, answer.content)
    assert read.retry_after == PERIOD


def test_a_quota_is_used_up_answer_by_answer_and_for_each_model(run: ServerRun, dial: Dial) -> None:
    client = dial("spent-2", "second")
    assert [client.generate().status_code for _ in range(3)] == [200, 200, 200]
    assert client.generate(CLAUDE).status_code == 200
    first = [("", "spent-2", 200), ("", "spent-2", 200), ("", "spent-2", 429), ("", "second", 200)]
    assert answer_requests(run) == [*first, ("", "spent-2", 200)]


def test_a_quota_comes_back_with_time(run: ServerRun, dial: Dial) -> None:
    client = dial("spent-1")
    assert [client.generate().status_code for _ in range(2)] == [200, 429]
    run.clock_offset += PERIOD - 1
    assert client.generate().status_code == 429
    run.clock_offset += 1
    assert client.generate().status_code == 200


def test_a_refused_request_costs_nothing(run: ServerRun, dial: Dial) -> None:
    client = dial("spent-1")
    assert client.generate(systemInstruction="You garden.").status_code == 400
    assert client.generate().status_code == 200


def test_quotas_are_shown_before_they_are_met(run: ServerRun, dial: Dial) -> None:
    client = dial("spent-4")
    account = client.accounts[0]
    client.generate()
    listed = client.post(account, "fetchAvailableModels", {}).json()["models"]
    assert listed[GEMINI]["quotaInfo"]["remainingFraction"] == 0.75
    assert listed[CLAUDE]["quotaInfo"]["remainingFraction"] == 1.0
    assert set(listed) == set(DIALECT.models)
    buckets = client.post(account, "retrieveUserQuota", {}).json()["buckets"]
    assert {bucket["modelId"]: bucket["remainingFraction"] for bucket in buckets}[GEMINI] == 0.75


# -- accounts that may not ask, or not yet


@pytest.mark.parametrize(
    ("name", "reason", "link"),
    [
        ("unlicensed", "SUBSCRIPTION_REQUIRED", "Learn more"),
        ("unverified-3", "VALIDATION_REQUIRED", "Verify your account"),
    ],
)
def test_an_account_that_may_not_ask_is_told_why(run: ServerRun, dial: Dial, name: str, reason: str, link: str) -> None:
    error = dial(name).generate().json()["error"]
    assert (error["code"], error["status"]) == (403, "PERMISSION_DENIED")
    info, links = error["details"]
    assert info["reason"] == reason
    assert links["links"][0]["description"] == link
    assert dial(name, "second").generate().status_code == 200


def test_a_new_account_has_a_project_once_it_is_onboarded(run: ServerRun, dial: Dial) -> None:
    client = dial("new")
    account = client.accounts[0]
    client.refresh(account)
    loaded = client.post(account, "loadCodeAssist", {}).json()
    assert "cloudaicompanionProject" not in loaded
    (tier,) = (tier["id"] for tier in loaded["allowedTiers"] if tier["isDefault"])
    operation = client.post(account, "onboardUser", {"tierId": tier}).json()
    assert operation["done"] is False
    headers = {"authorization": f"Bearer {client.tokens[account]}"}
    polled = client.http.get(f"{run.base_url}/v1internal/{operation['name']}", headers=headers).json()
    assert polled["done"] is True
    assert polled == client.post(account, "onboardUser", {"tierId": tier}).json()
    assert polled["response"]["cloudaicompanionProject"]["id"] == "turnproof-new"
    assert client.post(account, "loadCodeAssist", {}).json()["cloudaicompanionProject"] == "turnproof-new"
    assert client.generate().status_code == 200


def test_an_account_asks_for_its_own_project(run: ServerRun, dial: Dial) -> None:
    client = dial("first")
    client.projects[client.accounts[0]] = "turnproof-second"
    assert client.generate().status_code == 403


def test_contents_alone_are_counted(run: ServerRun, dial: Dial) -> None:
    client = dial("main")
    client.refresh(client.accounts[0])
    body = {"model": f"models/{GEMINI}", "contents": CONTENTS}
    bare = client.post(client.accounts[0], "countTokens", {"request": body}).json()
    tools = [{"functionDeclarations": [{"name": "read_sensor"}]}]
    assert client.post(client.accounts[0], "countTokens", {"request": body | {"tools": tools}}).json() == bare
    assert bare["totalTokens"] > 1
    nobody = {"contents": CONTENTS}
    assert client.post(client.accounts[0], "countTokens", {"request": nobody}).json() == bare
    assert client.post(client.accounts[0], "countTokens", {"request": body | {"model": "nope"}}).status_code == 404


@pytest.mark.parametrize("verb", ["fetchAdminControls", "listExperiments", "recordCodeAssistMetrics"])
def test_what_clients_ask_for_besides_is_answered_with_nothing(run: ServerRun, dial: Dial, verb: str) -> None:
    client = dial("main")
    client.tokens[client.accounts[0]] = "never-issued"
    assert client.post(client.accounts[0], verb, {}).status_code == 401
    client.refresh(client.accounts[0])
    assert client.post(client.accounts[0], verb, {"project": "turnproof-main"}).json() == {}


# -- hosts


def test_a_host_that_fails_is_left_for_the_next(run: ServerRun, dial: Dial) -> None:
    client = dial("main", hosts=("/down-503", "/down-404", "/prod"))
    assert client.generate().status_code == 200
    assert answer_requests(run) == [("down-503", "main", 503), ("down-404", "main", 404), ("prod", "main", 200)]


def test_where_every_host_fails_the_last_failure_is_the_answer(run: ServerRun, dial: Dial) -> None:
    client = dial("main", hosts=("/down-503", "/down-529"))
    client.projects[client.accounts[0]] = "turnproof-main"
    assert client.generate().status_code == 529
    assert answer_requests(run) == [("down-503", "main", 503), ("down-529", "main", 529)]


def test_hosts_share_one_world(run: ServerRun, dial: Dial) -> None:
    client = dial("spent-1", hosts=("/daily",))
    assert client.generate().status_code == 200
    client.hosts = [f"{run.base_url}/prod"]
    assert client.generate().status_code == 429


def test_a_scripted_429_is_met_by_whichever_account_asks(run: ServerRun, dial: Dial) -> None:
    run.arm(0, Turn(user=(Text("How moist is bed 3?"),), rounds=(), faults=(Fault(kind="status", status=429),)))
    answer = dial("first", "second").generate()
    assert answer.status_code == 200
    assert answer_requests(run) == [("", "first", 429), ("", "second", 200)]
    read = DIALECT.read_response(200, answer.headers, answer.content)
    assert read.finish is FinishReason.STOP


def test_tokens_show_in_nothing_but_the_world(run: ServerRun, dial: Dial) -> None:
    client = dial("main", "revoked")
    client.generate()
    client.refresh(client.accounts[1])
    for exchange in run.exchanges:
        assert KEY not in repr(exchange.call)
        assert KEY not in repr(exchange.findings)
    assert [each.operation for each in run.exchanges] == ["authenticate", "other", "generate", "authenticate"]
