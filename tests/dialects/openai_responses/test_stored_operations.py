"""What the service keeps, through the official client over a real socket: its types read every answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from turnproof.dialects.base import Call, Reply
from turnproof.dialects.openai_responses import DIALECT, rules
from turnproof.dialects.openai_responses.store import (
    KEPT_SECONDS,
    Conversation,
    keep_conversation,
    remember,
    stored_response,
)
from turnproof.messages import Text
from turnproof.wire.emulator import EmulatorServer

from ..answers import reply
from .asks import Ask, world
from .builders import MODEL, output
from .client_service import ClientService
from .rendering import PROMPT, REPLIES, final, new_call, render

openai: Any = pytest.importorskip("openai")


class Service(ClientService):
    """A service whose next answers a test says."""

    def say(self, script: Reply) -> None:
        """Let this be the next answers."""
        self.responder.reply = script

    def create(self, words: str = "41 %", **body: Any) -> Any:
        """A response that says this."""
        self.say(reply(Text(words)))
        return self.client.responses.create(model=MODEL, **{"input": "How moist is bed 3?", **body})


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with EmulatorServer() as server:
        yield Service(server)


def checked(found: Any) -> Any:
    """An object of the client, read once more by its own type, strictly."""
    type(found).model_validate(found.to_dict(mode="json"))
    return found


def refusal_message(question: Any, *, status: int = 404) -> str:
    """The message with which a request is refused."""
    with pytest.raises(openai.APIStatusError) as raised:
        question()
    assert raised.value.status_code == status
    return str(raised.value.body["message"])


def logged_rules(running: Service) -> list[str]:
    """The rules that the last request breaks, none of which is enforced."""
    findings = running.run.exchanges[-1].findings
    assert not any(each.enforced for each in findings)
    return [each.rule.id for each in findings]


# -- responses


def test_a_stored_response_is_retrieved_as_it_was_given(running: Service) -> None:
    created = checked(running.create())
    found = checked(running.client.responses.retrieve(created.id))
    assert found.to_dict() == created.to_dict()
    assert found.output_text == "41 %"


def test_a_response_that_was_not_stored_cannot_be_asked_for(running: Service) -> None:
    created = running.create("Not kept.", store=False)
    assert "not found" in refusal_message(lambda: running.client.responses.retrieve(created.id))
    assert "not found" in refusal_message(lambda: running.create(previous_response_id=created.id), status=400)


def test_a_deleted_response_is_gone_and_what_went_on_from_it_is_not(running: Service) -> None:
    first = running.create("One.", input="Say one.")
    second = running.create("Two.", input="Say two.", previous_response_id=first.id)
    assert running.client.responses.delete(first.id) is None
    assert "not found" in refusal_message(lambda: running.client.responses.retrieve(first.id))
    assert "not found" in refusal_message(lambda: running.create(previous_response_id=first.id), status=400)
    third = running.create("Three.", input="Say three.", previous_response_id=second.id)
    assert third.previous_response_id == second.id
    assert "not found" in refusal_message(lambda: running.client.responses.delete(first.id))


def test_a_fork_goes_on_from_the_same_response_without_the_other_branch(running: Service) -> None:
    root = running.create("Root.", input="Begin.")
    running.create("Left.", input="To the left.", previous_response_id=root.id)
    right = running.create("Right.", input="To the right.", previous_response_id=root.id)
    running.create(input="On.", previous_response_id=right.id)
    call = running.run.exchanges[-1].call
    assert call is not None
    assert [message.text for message in call.messages] == ["Begin.", "Root.", "To the right.", "Right.", "On."]


def test_the_items_of_a_request_are_listed_page_by_page(running: Service) -> None:
    items = [{"role": "user", "content": text} for text in ("One", "Two", "Three")]
    created = running.create("Heard.", input=items)
    newest = checked(running.client.responses.input_items.list(created.id, limit=2))
    assert [item.content[0].text for item in newest.data] == ["Three", "Two"]
    assert newest.has_more
    whole = running.client.responses.input_items.list(created.id, limit=2, order="asc")
    assert [item.content[0].text for item in whole] == ["One", "Two", "Three"]
    assert len({item.id for item in whole}) == 3


def test_a_response_in_the_background_is_polled_until_it_is_there(running: Service) -> None:
    created = checked(running.create("Done.", background=True))
    assert (created.status, created.output) == ("queued", [])
    states = [checked(running.client.responses.retrieve(created.id)) for _ in range(3)]
    assert [each.status for each in states] == ["in_progress", "completed", "completed"]
    assert states[-1].output_text == "Done."


def test_a_response_in_the_background_can_be_cancelled_and_another_one_cannot(running: Service) -> None:
    created = running.create("Never said.", background=True)
    cancelled = checked(running.client.responses.cancel(created.id))
    assert (cancelled.status, cancelled.output) == ("cancelled", [])
    assert running.client.responses.retrieve(created.id).status == "cancelled"
    finished = running.create("Said.")
    assert "synchronous" in refusal_message(lambda: running.client.responses.cancel(finished.id), status=400)


def test_a_stream_in_the_background_is_taken_up_where_it_was_left(running: Service) -> None:
    running.say(REPLIES["text"])
    stream = running.client.responses.create(model=MODEL, input="Hello", background=True, stream=True)
    events = [event.to_dict(mode="json") for event in stream]
    name = events[0]["response"]["id"]
    rest = running.client.responses.retrieve(name, stream=True, starting_after=2)
    assert [event.to_dict(mode="json") for event in rest] == events[3:]


def test_a_stream_that_is_taken_up_at_a_number_that_it_does_not_have_is_logged(running: Service) -> None:
    running.say(REPLIES["text"])
    stream = running.client.responses.create(model=MODEL, input="Hello", background=True, stream=True)
    events = [event.to_dict(mode="json") for event in stream]
    name, unknown = events[0]["response"]["id"], [rules.RESUMED_ELSEWHERE.id]
    for after, rest, logged in (
        (len(events) - 1, [], []), (len(events), [], unknown), (10_000, [], unknown), (-1, events, unknown),
    ):  # fmt: skip
        taken_up = running.client.responses.retrieve(name, stream=True, starting_after=after)
        assert [event.to_dict(mode="json") for event in taken_up] == rest
        assert logged_rules(running) == logged


@pytest.mark.parametrize("digits", ["9" * 30, "9" * 5000])
def test_a_number_of_thousands_of_digits_is_one_that_a_stream_does_not_have(running: Service, digits: str) -> None:
    first = next(iter(running.create(background=True, stream=True, store=True)))
    path = f"/responses/{first.response.id}"
    options: Any = {"params": {"stream": "true", "starting_after": digits}}
    found = running.client.get(path, cast_to=httpx2.Response, options=options)
    assert found.content == b""
    assert logged_rules(running) == [rules.RESUMED_ELSEWHERE.id]
    options = {"params": {"limit": digits}}
    listed = running.client.get(f"{path}/input_items", cast_to=httpx2.Response, options=options).json()
    assert len(listed["data"]) == 1


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled"])
def test_going_on_from_a_response_that_is_not_finished_is_logged(running: Service, status: str) -> None:
    created = running.create("Later.", background=True)
    if status == "in_progress":
        running.client.responses.retrieve(created.id)
    elif status == "cancelled":
        running.client.responses.cancel(created.id)
    running.create(previous_response_id=created.id)
    assert logged_rules(running) == [rules.UNFINISHED_PREVIOUS.id]
    assert running.run.exchanges[-1].findings[0].message.endswith(f"has the status '{status}'.")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_time_alone_is_at_fault_for_a_response_that_has_expired(method: str) -> None:
    now = [0.0]
    at = world()
    at.clock = lambda: now[0]
    name = final(render(REPLIES["text"], new_call(at=at), at=at))["id"]
    now[0] = KEPT_SECONDS

    def outdated(sendable: Ask) -> list[bool]:
        call = DIALECT.parse(sendable.request(), at)
        assert isinstance(call, Call)
        return [each.outdated for each in DIALECT.validate(sendable.request(), call, at)]

    assert outdated(Ask(path=f"/v1/responses/{name}", method=method)) == [True]
    assert outdated(Ask(path="/v1/responses/resp_never", method=method)) == [False]
    assert outdated(Ask({"model": MODEL, "input": "On.", "previous_response_id": name})) == [True]


def test_a_response_is_kept_for_thirty_days() -> None:
    now = [0.0]
    at = world()
    at.clock = lambda: now[0]
    name = final(render(REPLIES["text"], new_call(at=at), at=at))["id"]
    now[0] = KEPT_SECONDS - 1
    assert stored_response(at, name) is not None
    now[0] = KEPT_SECONDS
    assert stored_response(at, name) is None


def test_a_long_chain_is_read_whole() -> None:
    """Ten thousand responses, each with a word of its own: no answer keeps the whole conversation a second time."""
    at = world()
    name = None
    for number in range(10_000):
        response = {"id": f"resp_{number}", "output": [{"type": "message", "role": "assistant", "content": "On."}]}
        previous = stored_response(at, name)
        remember(response, ({"role": "user", "content": str(number)},), at, stored=True, model=MODEL, previous=previous)
        name = response["id"]
    found = stored_response(at, name)
    assert found is not None
    assert len(found.context) == 20_000
    assert found.context[0] == {"role": "user", "content": "0"}


# -- compaction


def test_a_conversation_is_compacted_and_gone_on_with(running: Service) -> None:
    first = running.create("One.", input="Say one.")
    # The client's type has no place for messages of the user, which the recordings have.
    compaction = running.client.responses.compact(model=MODEL, input="Say two.", previous_response_id=first.id)
    checked(compaction.output[-1])
    assert [item.type for item in compaction.output] == ["message", "message", "compaction"]
    assert [item.content[0].text for item in compaction.output[:2]] == ["Say one.", "Say two."]
    items = [item.to_dict(mode="json", warnings=False) for item in compaction.output]
    assert running.create("On.", input=[*items, {"role": "user", "content": "And now?"}]).output_text == "On."


def test_there_is_nothing_to_compact_without_an_input_or_behind_an_unknown_response(running: Service) -> None:
    def compact(**body: Any) -> str:
        return refusal_message(lambda: running.client.responses.compact(model=MODEL, **body), status=400)

    assert "must be provided" in compact()
    assert "must be provided" in compact(input=[])
    assert compact(previous_response_id="resp_gone") == "Previous response with id 'resp_gone' not found."


# -- conversations


def test_a_conversation_collects_what_is_said_in_it(running: Service) -> None:
    client = running.client
    conversation = checked(client.conversations.create(metadata={"bed": "3"}))
    running.create("41 %", conversation=conversation.id)
    second = checked(running.create("Dry.", input="Is that dry?", conversation={"id": conversation.id}))
    assert second.conversation.id == conversation.id
    found = checked(client.conversations.items.list(conversation.id, order="asc"))
    assert [item.role for item in found.data] == ["user", "assistant", "user", "assistant"]
    assert (
        client.conversations.items.retrieve(found.data[1].id, conversation_id=conversation.id).content[0].text == "41 %"
    )
    assert client.conversations.items.delete(found.data[1].id, conversation_id=conversation.id).id == conversation.id
    assert len(client.conversations.items.list(conversation.id).data) == 3
    assert checked(client.conversations.update(conversation.id, metadata={})).metadata == {}
    assert client.conversations.retrieve(conversation.id).created_at == conversation.created_at


def test_equal_requests_create_conversations_and_items_of_their_own(running: Service) -> None:
    items: Any = [{"type": "message", "role": "user", "content": "Hello"}]
    first, second = (running.client.conversations.create() for _ in range(2))
    assert first.id != second.id
    for conversation in (first, second, second):
        running.client.conversations.items.create(conversation.id, items=items)
    found = [
        item.id for conversation in (first, second) for item in running.client.conversations.items.list(conversation.id)
    ]
    assert len(found) == len(set(found)) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"items": 5}, "Invalid type for 'items'"),
        ({"items": ["Hello."]}, "Invalid type for 'items[0]'"),
        ({"items": {"role": "user"}}, "Invalid type for 'items'"),
        ({"metadata": ["bed"]}, "Invalid type for 'metadata'"),
        ({"metadata": "bed"}, "Invalid type for 'metadata'"),
    ],
)
def test_a_conversation_of_other_types_is_refused(running: Service, body: Any, message: str) -> None:
    found = running.client.conversations.create()
    for path in ("/conversations", f"/conversations/{found.id}", f"/conversations/{found.id}/items"):
        refusal = refusal_message(lambda path=path: running.client.post(path, cast_to=object, body=body), status=400)
        assert refusal.startswith(message)
    assert running.client.conversations.items.list(found.id).data == []


def test_items_are_added_to_a_conversation(running: Service) -> None:
    client = running.client
    conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": "Hello"}])
    added = checked(
        client.conversations.items.create(
            conversation.id, items=[{"type": "message", "role": "user", "content": "And?"}]
        )
    )
    assert [item.content[0].text for item in added.data] == ["And?"]
    assert [item.content[0].text for item in client.conversations.items.list(conversation.id)] == ["And?", "Hello"]


def test_a_deleted_conversation_is_gone(running: Service) -> None:
    client = running.client
    conversation = client.conversations.create()
    assert checked(client.conversations.delete(conversation.id)).deleted
    assert (
        refusal_message(lambda: client.conversations.retrieve(conversation.id))
        == f"Conversation with id '{conversation.id}' not found."
    )
    assert (
        refusal_message(lambda: client.conversations.delete(conversation.id))
        == f"Conversation with id '{conversation.id}' not found."
    )


def test_a_retry_is_not_collected_twice() -> None:
    """The same request gets the same answer: the conversation has both once."""
    at = world()
    at.any_key = True
    request = Ask({"model": MODEL, "input": "Hello", "conversation": "conv_kept"}).request()
    for _ in range(2):
        call = DIALECT.parse(request, at)
        assert isinstance(call, Call)
        DIALECT.render(call, REPLIES["text"], PROMPT, at, "s")
    assert len(at.resources["conv_kept"].items) == 2


def test_an_answer_that_is_given_again_in_another_conversation_is_collected_there() -> None:
    at = world()
    at.any_key = True
    keep_conversation(at, Conversation("conv_other", 0))
    for name in ("conv_kept", "conv_other"):
        call = DIALECT.parse(Ask({"model": MODEL, "input": "Hello", "conversation": name}).request(), at)
        assert isinstance(call, Call)
        DIALECT.render(call, REPLIES["text"], PROMPT, at, "s")
    assert [len(at.resources[name].items) for name in ("conv_kept", "conv_other")] == [2, 2]


def test_an_output_answers_the_call_that_the_conversation_holds(running: Service) -> None:
    conversation = running.client.conversations.create()
    running.say(REPLIES["calls"])
    first = running.client.responses.create(model=MODEL, input="Look.", conversation=conversation.id)
    calls = [item.call_id for item in first.output if item.type == "function_call"]
    assert calls
    answers = [output(call_id) for call_id in calls]
    assert running.create("Seen.", input=answers, conversation=conversation.id).output_text == "Seen."
    assert "No tool call found" in refusal_message(lambda: running.create(input=answers), status=400)
