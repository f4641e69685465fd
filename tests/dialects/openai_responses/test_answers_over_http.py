"""Every rendered form through the official client, over a real socket: its reader makes of it what ours does.

Bytes that only our reader understands would certify nobody.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.dialects.base import Refusal
from turnproof.dialects.openai_responses import DIALECT, rules
from turnproof.messages import Text
from turnproof.scenarios.model import Fault

from ..answers import LOOK, in_words, reply
from ..responders import service_fixtures
from .builders import CLOSED, MODEL
from .client_service import ClientService
from .rendering import REPLIES

openai: Any = pytest.importorskip("openai")


running, service = service_fixtures(ClientService)


ASK: Any = {
    "model": MODEL,
    "input": "How moist is bed 3?",
    "reasoning": {"summary": "auto"},
    "tools": [{"type": "function", "name": "read_sensor", "parameters": CLOSED, "strict": True}],
}


def in_neutral_form(response: Any) -> list[tuple[Any, ...]]:
    """What the client's object says, read without any of our code."""
    found: list[tuple[Any, ...]] = []
    for item in response.output:
        if item.type == "reasoning":
            found.append(("thought", "\n\n".join(part.text for part in item.summary), item.encrypted_content))
        elif item.type == "message":
            found += [("text", getattr(part, "text", None) or part.refusal) for part in item.content]
        elif item.type == "function_call" and item.status == "completed":
            found.append(("call", item.call_id, item.name, json.loads(item.arguments)))
        elif item.type != "function_call":
            found.append(("other", item.type))
    return found


@pytest.mark.parametrize("name", REPLIES)
def test_the_client_reads_a_batch_answer_as_we_do(name: str, service: ClientService) -> None:
    service.responder.reply = REPLIES[name]
    response = service.client.responses.create(**ASK)
    answer = service.answer()
    assert in_neutral_form(response) == in_words(answer.parts)
    assert answer.usage is not None
    assert response.usage.input_tokens == answer.usage.prompt_tokens
    assert response.usage.input_tokens_details.cached_tokens == answer.usage.cache_read_tokens
    assert response.usage.output_tokens_details.reasoning_tokens == answer.usage.thinking_tokens
    assert response.usage.total_tokens == answer.usage.total_tokens
    reason = response.incomplete_details.reason if response.incomplete_details else None
    assert answer.raw_finish == (reason or response.status)


@pytest.mark.parametrize("name", REPLIES)
def test_the_client_reads_a_stream_as_we_do(name: str, service: ClientService) -> None:
    service.responder.reply = REPLIES[name]
    events = list(service.client.responses.create(**ASK, stream=True))
    answer = service.answer()
    last = events[-1]
    assert last.type in ("response.completed", "response.incomplete", "response.failed")
    assert in_neutral_form(last.response) == in_words(answer.parts)
    deltas = "".join(
        each.delta for each in events if each.type in ("response.output_text.delta", "response.refusal.delta")
    )
    assert deltas == "".join(part.text for part in answer.parts if isinstance(part, Text))
    assert [each.sequence_number for each in events] == list(range(len(events)))


@pytest.mark.parametrize("name", [name for name in REPLIES if name not in ("searched", "unknown-finish")])
def test_every_event_has_the_type_that_the_client_knows_for_it(name: str, service: ClientService) -> None:
    service.responder.reply = REPLIES[name]
    for event in service.client.responses.create(**ASK, stream=True):
        known = type(event).__name__
        assert known.startswith("Response"), event
        # Nothing that the client's types require is missing, and nothing has another type than they say.
        type(event).model_validate(event.model_dump(mode="json", by_alias=True, warnings=False))


def test_the_accumulator_of_the_client_takes_our_streams(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK)
    with service.client.responses.stream(**ASK) as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    assert in_neutral_form(response) == in_words(service.answer().parts)


def test_a_loop_sent_back_item_by_item_is_accepted(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK)
    first = service.client.responses.create(**ASK, store=False, include=["reasoning.encrypted_content"])
    outputs = [
        {"type": "function_call_output", "call_id": item.call_id, "output": "41 %"}
        for item in first.output if item.type == "function_call"
    ]  # fmt: skip
    service.responder.reply = reply(Text("41 %"))
    items = [{"role": "user", "content": ASK["input"]}, *first.output, *outputs]
    second = service.client.responses.create(**ASK | {"input": items}, store=False)
    assert second.output_text == "41 %"
    assert service.run.exchanges[-1].findings == []


def test_the_service_goes_on_from_a_response_that_it_keeps(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK[2:])
    first = service.client.responses.create(**ASK)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        service.client.responses.create(**ASK, previous_response_id=first.id)
    service.responder.reply = reply(Text("41 %"))
    outputs = [{"type": "function_call_output", "call_id": item.call_id, "output": "41 %"} for item in first.output]
    assert (
        service.client.responses.create(**ASK | {"input": outputs}, previous_response_id=first.id).output_text == "41 %"
    )


def test_reasoning_from_the_opening_event_is_not_the_one_to_send_back(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK[:2])
    events = list(service.client.responses.create(**ASK, include=["reasoning.encrypted_content"], stream=True))
    opened = next(each.item for each in events if each.type == "response.output_item.added")
    item = opened.model_dump(exclude_none=True) | {"summary": []}
    item.pop("id")
    with pytest.raises(openai.BadRequestError) as raised:
        service.client.responses.create(**ASK | {"input": [item, {"role": "assistant", "content": "Hm."}]})
    assert raised.value.code == "invalid_encrypted_content"


def test_tokens_and_models_are_what_the_client_expects(service: ClientService) -> None:
    assert service.client.responses.input_tokens.count(model=MODEL, input="Hello").input_tokens == 36
    assert MODEL in {model.id for model in service.client.models.list()}
    assert service.client.models.retrieve(MODEL).id == MODEL


@pytest.mark.parametrize("spelling", sorted(DIALECT.spellings))
def test_the_client_takes_every_spelling_of_a_stream(spelling: Any, service: ClientService) -> None:
    service.responder.reply = reply(*LOOK)
    service.fault(Fault(kind="respelled", spelling=spelling))
    events = list(service.client.responses.create(**ASK, stream=True))
    assert events[-1].type == "response.completed"
    assert in_neutral_form(events[-1].response) == in_words(service.answer().parts)


def test_the_client_reads_over_noise(service: ClientService) -> None:
    service.responder.reply = REPLIES["text"]
    service.fault(Fault(kind="comment"))
    events = list(service.client.responses.create(**ASK, stream=True))
    assert events[-1].type == "response.completed"
    assert "".join(each.delta for each in events if each.type == "response.output_text.delta") == "41 % 🌱"


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, "BadRequestError"), (401, "AuthenticationError"), (403, "PermissionDeniedError"), (404, "NotFoundError"),
        (429, "RateLimitError"), (500, "InternalServerError"), (503, "InternalServerError"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
def test_the_client_raises_its_class_for_each_status(
    status: int, raised: str, stream: bool, service: ClientService
) -> None:
    kind, message = DIALECT.error_kind(status)
    service.responder.reply = Refusal(rules.RATE_LIMIT, status, kind, message)
    with pytest.raises(getattr(openai, raised)) as error:
        service.client.responses.create(**ASK, stream=stream)
    assert error.value.status_code == status
    assert error.value.code in (kind, None)
    assert error.value.request_id is not None


def test_an_error_event_reaches_the_caller_as_an_event(service: ClientService) -> None:
    service.responder.reply = REPLIES["text"]
    service.fault(Fault(kind="error-event", status=503))
    events = list(service.client.responses.create(**ASK, stream=True))
    assert (events[-1].type, events[-1].code) == ("error", "server_is_overloaded")
    assert service.answer().error_kind == "server_is_overloaded"
