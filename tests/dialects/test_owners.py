"""What a service keeps belongs to the key that it was made with: to another key it is unknown. Through the SDKs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from turnproof.dialects.gemini_interactions import DIALECT as INTERACTIONS
from turnproof.dialects.openai_responses import DIALECT as RESPONSES
from turnproof.dialects.openai_responses import rules
from turnproof.messages import Text, Thought
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

from .answers import reply
from .responders import ScriptedService

MODEL = "gpt-5"


class TwoOwners(ScriptedService):
    """A service that stores answers, and what two owners call it with."""

    def __init__(self, server: EmulatorServer) -> None:
        super().__init__(server, RESPONSES)
        self.server = server
        openai: Any = pytest.importorskip("openai")
        self.owner, self.stranger = (
            openai.OpenAI(base_url=self.run.base_url, api_key=key, max_retries=0) for key in ("key-a", "key-b")
        )

    def rules_of_last(self) -> list[str]:
        return [each.rule.id for each in self.run.exchanges[-1].findings]


@pytest.fixture
def service() -> Iterator[TwoOwners]:
    with EmulatorServer() as server:
        yield TwoOwners(server)


def refused(question: Callable[[], Any]) -> tuple[int, str | None, str]:
    """Status, code and message of a refusal."""
    openai: Any = pytest.importorskip("openai")
    with pytest.raises(openai.APIStatusError) as raised:
        question()
    return raised.value.status_code, raised.value.code, str(raised.value.body["message"])


def test_a_response_of_another_key_is_answered_as_one_that_there_never_was(service: TwoOwners) -> None:
    name = service.owner.responses.create(model=MODEL, input="Mine.").id

    def ask(previous: str) -> Callable[[], Any]:
        return lambda: service.stranger.responses.create(model=MODEL, input="On.", previous_response_id=previous)

    status, code, message = refused(ask(name))
    never = refused(ask("resp_never"))
    assert (status, code, message.replace(name, "resp_never")) == never
    assert code == "previous_response_not_found"
    assert not service.run.exchanges[-2].findings[0].outdated, "the client is at fault, not time"
    for operation in (service.stranger.responses.retrieve, service.stranger.responses.delete):
        assert refused(partial(operation, name))[0] == 404
    assert refused(lambda: service.stranger.responses.input_items.list(name))[0] == 404
    assert service.owner.responses.retrieve(name).id == name, "nobody else has deleted it"
    assert service.owner.responses.create(model=MODEL, input="On.", previous_response_id=name).status == "completed"


def test_a_conversation_of_another_key_is_unknown(service: TwoOwners) -> None:
    name = service.owner.conversations.create(items=[{"role": "user", "content": "Mine."}]).id
    assert refused(lambda: service.stranger.conversations.retrieve(name))[0] == 404
    assert refused(lambda: service.stranger.conversations.items.list(name))[0] == 404
    assert refused(lambda: service.stranger.conversations.delete(name))[0] == 404
    service.stranger.responses.create(model=MODEL, input="On.", conversation=name)
    assert service.rules_of_last() == [rules.CONVERSATION_NOT_FOUND.id]
    assert len(service.owner.conversations.items.list(name).data) == 1, "nothing was added to it"


def test_an_item_and_encrypted_reasoning_of_another_key_are_refused(service: TwoOwners) -> None:
    service.responder.reply = reply(Thought("Dry."), Text("41 %"))
    include: list[Any] = ["reasoning.encrypted_content"]
    thought, answer = service.owner.responses.create(model=MODEL, input="Mine.", include=include).output
    question = {"role": "user", "content": "On."}

    def ask(client: Any, *items: Any) -> Callable[[], Any]:
        return lambda: client.responses.create(model=MODEL, input=[*items, question], store=False)

    by_id = {"type": "item_reference", "id": answer.id}
    assert refused(ask(service.stranger, by_id))[0] == 404
    sealed = thought.to_dict(mode="json")
    status, code, message = refused(ask(service.stranger, sealed, answer.to_dict(mode="json")))
    assert (status, code) == (400, "invalid_encrypted_content")
    assert message.endswith("Reason: Encrypted content organization_id did not match the target organization.")
    assert ask(service.owner, sealed, answer.to_dict(mode="json"))().status == "completed"


def test_the_same_request_of_two_keys_has_two_ids_and_of_one_key_one(service: TwoOwners) -> None:
    echo = service.server.open_run(RESPONSES, EchoResponder(), any_key=True)
    owner, stranger = (client.with_options(base_url=echo.base_url) for client in (service.owner, service.stranger))
    first, second, again = (
        client.responses.create(model=MODEL, input="Same.").id for client in (owner, stranger, owner)
    )
    assert first == again != second
    assert RESPONSES.stored_ids(echo.world) == (first, second)


def test_an_interaction_of_another_key_is_unknown(service: TwoOwners) -> None:
    import httpx2

    run = service.server.open_run(INTERACTIONS, service.responder, any_key=True)
    path = f"{run.base_url}/v1beta/interactions"

    def ask(key: str, method: str = "POST", name: str = "", **body: Any) -> httpx2.Response:
        question = {"model": "gemini-3-flash-preview", "input": "Hello", **body} if method == "POST" else None
        return httpx2.request(method, f"{path}{name}", json=question, headers={"x-goog-api-key": key})

    name = ask("a").json()["id"]
    assert ask("a", previous_interaction_id=name).status_code == 200
    never = ask("b", previous_interaction_id="v1_never")
    theirs = ask("b", previous_interaction_id=name)
    assert theirs.text.replace(name, "v1_never") == never.text
    assert theirs.status_code == never.status_code == 403
    assert ask("b", "GET", f"/{name}").status_code == ask("b", "GET", "/v1_never").status_code == 403
    assert ask("a", "GET", f"/{name}").status_code == 200
