"""Every rendered form through the official client, over a real socket: its reader makes of it what ours does.

Bytes that only our reader understands would certify nobody. Answers are held against the types of the SDK and against
the interface description, too.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from turnproof.dialects.base import Refusal
from turnproof.dialects.gemini_interactions import DIALECT, rules
from turnproof.messages import FunctionCall, Text
from turnproof.scenarios.model import Fault
from turnproof.wire.emulator import EmulatorServer

from ..answers import LOOK, in_words, reply
from ..responders import ScriptedService, service_fixtures
from .builders import MODEL, SCHEMA
from .described import event_faults, faults
from .rendering import REPLIES, events, render

genai: Any = pytest.importorskip("google.genai")
classes: Any = pytest.importorskip("google.genai._interactions")


class Service(ScriptedService):
    """A running server, what it says, and a client of it."""

    def __init__(self, server: EmulatorServer) -> None:
        super().__init__(server, DIALECT)
        options = genai.types.HttpOptions(
            base_url=self.run.base_url,
            retry_options=genai.types.HttpRetryOptions(attempts=1),
            httpx_client=httpx2.Client(timeout=60),
        )
        self.client = genai.Client(vertexai=False, api_key="key", http_options=options)


running, service = service_fixtures(Service)


ASK: Any = {
    "model": MODEL,
    "input": "How moist is bed 3?",
    "generation_config": {"thinking_summaries": "auto"},
    "tools": [{"type": "function", "name": "read_sensor", "parameters": SCHEMA}],
}


def in_neutral_form(steps: Any) -> list[tuple[Any, ...]]:
    """What the steps of the client's object say, read without any of our code."""
    found: list[tuple[Any, ...]] = []
    for step in steps or ():
        if step.type == "thought":
            found.append(("thought", "".join(each.text for each in step.summary or ()), step.signature))
        elif step.type == "model_output":
            found += [("text", each.text) for each in step.content]
        elif step.type == "function_call":
            found.append(("call", step.id, step.name, step.arguments))
        else:
            found.append(("other", step.type))
    return found


@pytest.mark.parametrize("name", REPLIES)
def test_the_client_reads_a_batch_answer_as_we_do(name: str, service: Service) -> None:
    service.responder.reply = REPLIES[name]
    interaction = service.client.interactions.create(**ASK, automatic_continuation=False)
    answer = service.answer()
    assert in_neutral_form(interaction.steps) == in_words(answer.parts)
    assert interaction.status == answer.raw_finish
    assert answer.usage is not None
    assert interaction.usage.total_input_tokens == answer.usage.prompt_tokens


@pytest.mark.parametrize("name", REPLIES)
def test_the_client_reads_a_stream_as_we_do(name: str, service: Service) -> None:
    service.responder.reply = REPLIES[name]
    texts: dict[int, str] = {}
    arguments: dict[int, str] = {}
    last: Any = None
    for event in service.client.interactions.create(**ASK, stream=True, automatic_continuation=False):
        assert not getattr(event, "is_unknown", False)
        if event.event_type == "step.delta" and event.delta.type == "text":
            texts[event.index] = texts.get(event.index, "") + event.delta.text
        elif event.event_type == "step.delta" and event.delta.type == "arguments_delta":
            arguments[event.index] = arguments.get(event.index, "") + event.delta.arguments
        last = event
    answer = service.answer()
    assert list(texts.values()) == [part.text for part in answer.parts if isinstance(part, Text)]
    called = [dict(part.args) for part in answer.parts if isinstance(part, FunctionCall) and part.args]
    assert [json.loads(each) for each in arguments.values()] == called
    assert last.interaction.status == answer.raw_finish


@pytest.mark.parametrize("name", REPLIES)
def test_every_answer_is_what_the_interface_description_says(name: str) -> None:
    rendered = render(REPLIES[name])
    document = json.loads(rendered.events[0].data)
    stream = events(render(REPLIES[name], stream=True))
    found = faults("Interaction", document) + [fault for each in stream for fault in event_faults(each)]
    # A status that is newer than the description, as the scenarios have one.
    assert [each for each in found if "'sundown'" not in each] == []


def test_the_description_finds_what_is_none() -> None:
    assert faults("Interaction", {"steps": []}) != []
    assert faults("Interaction", {"status": "completed", "steps": [{"type": "model_output", "content": 3}]}) != []
    assert event_faults({"event_type": "step.stop"}) != []


def test_errors_are_what_the_interface_description_says() -> None:
    refusal = Refusal(rules.UNKNOWN_MODEL, 404, "not_found", "No.")
    body = json.loads(DIALECT.render_refusal(refusal, "s").events[0].data)
    assert faults("Error", body["error"]) == []
    assert list(body) == ["error"]
    event = json.loads(DIALECT.error_event("unavailable", "Busy").data.split(b"data: ")[1])
    assert event_faults(event) == []


def test_a_loop_sent_back_step_by_step_is_accepted(service: Service) -> None:
    service.responder.reply = REPLIES["calls"]
    client = service.client.interactions
    first = client.create(**ASK, store=False)
    assert first.status == "requires_action"
    results = [
        {"type": "function_result", "call_id": step.id, "name": step.name, "result": "41 %"}
        for step in first.steps if step.type == "function_call"
    ]  # fmt: skip
    question = {"type": "user_input", "content": [{"type": "text", "text": ASK["input"]}]}
    steps = [question, *(step.model_dump() for step in first.steps), *results]
    service.responder.reply = reply(Text("41 %"))
    second = client.create(**{**ASK, "input": steps}, store=False)
    assert second.output_text == "41 %"


def test_the_service_goes_on_from_an_interaction_that_it_keeps(service: Service) -> None:
    client = service.client.interactions
    service.responder.reply = reply(*LOOK)
    first = client.create(**ASK)
    service.responder.reply = reply(Text("You're welcome."))
    second = client.create(model=MODEL, input="Thanks", previous_interaction_id=first.id)
    assert second.previous_interaction_id == first.id
    assert client.get(id=first.id).steps[0].content[0].text == ASK["input"]
    client.delete(id=first.id)
    with pytest.raises(classes.PermissionDeniedError):
        client.create(model=MODEL, input="Again", previous_interaction_id=first.id)


@pytest.mark.parametrize("spelling", sorted(DIALECT.spellings))
def test_the_client_takes_every_spelling_of_a_stream(spelling: Any, service: Service) -> None:
    service.responder.reply = REPLIES["calls"]
    service.fault(Fault("respelled", spelling=spelling))
    received_events = list(service.client.interactions.create(**ASK, stream=True))
    assert received_events[-1].event_type == "interaction.completed"


@pytest.mark.parametrize(
    ("status", "raised"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (403, "PermissionDeniedError"), (404, "NotFoundError"),
     (429, "RateLimitError"), (500, "InternalServerError"), (503, "InternalServerError")],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_the_client_raises_its_class_for_each_status(status: int, raised: str, stream: bool, service: Service) -> None:
    kind, message = DIALECT.error_kind(status)
    service.responder.reply = Refusal(rules.BAD_KEY, status, kind, message)
    with pytest.raises(getattr(classes, raised)) as found:
        list(service.client.interactions.create(**ASK, stream=stream))
    assert found.value.status_code == status
    assert found.value.body == {"error": {"message": message, "code": kind}}
