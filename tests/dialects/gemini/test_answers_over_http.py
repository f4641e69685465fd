"""Every rendered form through the real SDK, over a real socket: Google's own reader makes of it what ours does.

Bytes that only our reader understands would certify nobody.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials

from turnproof.dialects.base import Refusal, ReplyPart, WireAnswer
from turnproof.dialects.gemini import DIALECT, finishes, rules
from turnproof.dialects.gemini.parts import signature_of
from turnproof.messages import FinishReason, FunctionCall, Part, Text, Thought
from turnproof.scenarios.model import Fault
from turnproof.wire.emulator import EmulatorServer

from ..answers import LOOK, reply
from ..responders import ScriptedService, service_fixtures
from .builders import MODEL, OLD
from .rendering import SHORT_REPLY

CLIPPED = ReplyPart(FunctionCall("", "write"), ('{"path": "a", "te',), broken=True)
REPLIES = {
    "text": reply(Text("41 % 🌱")),
    "thinking-and-text": SHORT_REPLY,
    "calls": reply(*LOOK, finish=FinishReason.TOOL_USE),
    "interleaved": reply(Thought("One."), Text("Two."), Thought("Three."), Text("Four.")),
    "nothing": reply(),
    "cut-off": reply(Text("I write."), CLIPPED, finish=FinishReason.MAX_TOKENS),
    "cut-off-while-thinking": reply(Thought("Hm."), finish=FinishReason.MAX_TOKENS),
    "malformed": reply(Text("I write."), FunctionCall("", "write"), raw_finish=finishes.MALFORMED_CALL),
    "unexpected": reply(FunctionCall("", "list_files"), raw_finish=finishes.UNEXPECTED_CALL),
    "filtered": reply(finish=FinishReason.SAFETY),
    "armoured": reply(finish=FinishReason.SAFETY, raw_finish=finishes.MODEL_ARMOR),
    "refused-in-words": reply(Text("No."), finish=FinishReason.REFUSAL),
    "refused-without-a-word": reply(finish=FinishReason.REFUSAL),
    "blocked-prompt": reply(finish=FinishReason.SAFETY, raw_finish="PROMPT_BLOCKED:PROHIBITED_CONTENT"),
    "unknown-finish": reply(Text("Sunny."), finish=FinishReason.UNKNOWN, raw_finish="SUNDOWN"),
    "no-figures": reply(Text("a"), usage={"fresh": 0, "cache_read": 0, "output": 0}),
}


class Service(ScriptedService):
    """A running server, what it says, and clients of both surfaces."""

    def __init__(self, server: EmulatorServer) -> None:
        super().__init__(server, DIALECT)
        options = types.HttpOptions(base_url=self.run.base_url)
        token = Credentials("token")  # type: ignore[no-untyped-call]
        self.clients = {
            "ai-studio": genai.Client(api_key="key", http_options=options),
            "vertex": genai.Client(vertexai=True, project="p", location="l", credentials=token, http_options=options),
        }


running, service = service_fixtures(Service)


ASK: Any = {"contents": "How moist is bed 3?", "config": {"thinking_config": {"include_thoughts": True}}}


def generate(client: genai.Client, form: str, model: str) -> list[types.GenerateContentResponse]:
    """The answer as the SDK's objects: one for a batch answer, one for each chunk."""
    if form == "batch":
        return [client.models.generate_content(model=model, **ASK)]
    return list(client.models.generate_content_stream(model=model, **ASK))


def in_neutral_form(answers: list[types.GenerateContentResponse], *, streamed: bool) -> list[tuple[Any, ...]]:
    """What the SDK's objects say, read without any of our code."""
    found: list[tuple[Any, ...]] = []
    for answer in answers:
        candidate = answer.candidates[0] if answer.candidates else None
        content = candidate.content if candidate is not None else None
        for part in (content.parts if content is not None else None) or ():
            if part.function_call is not None:
                call = part.function_call
                found.append(("call", call.id or "", call.name, call.args, part.thought_signature))
                continue
            entry = ("thought" if part.thought else "text", part.text or "", part.thought_signature)
            if not entry[1] and entry[2] is None:
                continue
            if streamed and found and found[-1][0] == entry[0] and found[-1][-1] is None and entry[2] is None:
                found[-1] = (entry[0], found[-1][1] + entry[1], None)
            else:
                found.append(entry)
    return found


def as_read(part: Part) -> tuple[Any, ...]:
    signature = signature_of(part)
    sealed = b64decode(signature) if signature is not None else None
    match part:
        case FunctionCall():
            return ("call", part.id, part.name, part.args, sealed)
        case Thought() | Text():
            return ("thought" if isinstance(part, Thought) else "text", part.text, sealed)
    raise AssertionError(f"no such part was said: {part!r}")


def finish_of(answer: types.GenerateContentResponse) -> str | None:
    if answer.prompt_feedback is not None and answer.prompt_feedback.block_reason is not None:
        return answer.prompt_feedback.block_reason.value
    reason = answer.candidates[0].finish_reason if answer.candidates else None
    return reason.value if reason is not None else None


def assert_usage(answer: types.GenerateContentResponse, wire: WireAnswer) -> None:
    usage = answer.usage_metadata
    assert usage is not None
    assert wire.usage is not None
    assert (usage.prompt_token_count or 0) == wire.usage.prompt_tokens
    assert (usage.cached_content_token_count or 0) == wire.usage.cache_read_tokens
    assert (usage.thoughts_token_count or 0) == wire.usage.thinking_tokens
    assert (usage.candidates_token_count or 0) == wire.usage.output_tokens - wire.usage.thinking_tokens
    assert (usage.total_token_count or 0) == wire.usage.total_tokens


@pytest.mark.filterwarnings("ignore:SUNDOWN is not a valid")
@pytest.mark.parametrize("reply_name", REPLIES)
@pytest.mark.parametrize("form", ["batch", "sse"])
@pytest.mark.parametrize("surface", ["ai-studio", "vertex"])
@pytest.mark.parametrize("model", [MODEL, OLD])
def test_the_sdk_reads_what_we_read(service: Service, reply_name: str, form: str, surface: str, model: str) -> None:
    service.responder.reply = REPLIES[reply_name]
    answers = generate(service.clients[surface], form, model)
    wire = service.answer()
    assert in_neutral_form(answers, streamed=form == "sse") == list(map(as_read, wire.parts))
    assert [finish_of(each) for each in answers] == [None] * (len(answers) - 1) + [wire.raw_finish]
    assert_usage(answers[-1], wire)
    assert {each.model_version for each in answers} == {model}
    assert len({each.response_id for each in answers}) == 1
    assert wire.complete
    thought = any(isinstance(each.part, Thought) for each in REPLIES[reply_name].parts)
    assert any(isinstance(part, Thought) for part in wire.parts) is thought


@pytest.mark.filterwarnings("ignore:SUNDOWN is not a valid")
@pytest.mark.parametrize("reply_name", REPLIES)
def test_the_elements_of_an_array_are_answers_as_the_sdk_knows_them(service: Service, reply_name: str) -> None:
    """The SDK itself always asks for events. Its types take Vertex's answers as they are, others only trimmed."""
    service.responder.reply = REPLIES[reply_name]
    body = {
        "contents": [{"parts": [{"text": "Hi"}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }
    path = f"/v1beta1/projects/p/locations/l/publishers/google/models/{MODEL}:streamGenerateContent"
    found = httpx2.post(service.run.base_url + path, headers={"authorization": "Bearer token"}, json=body)
    answers = [types.GenerateContentResponse.model_validate(each) for each in found.json()]
    wire = service.answer()
    assert in_neutral_form(answers, streamed=True) == list(map(as_read, wire.parts))
    assert finish_of(answers[-1]) == wire.raw_finish
    assert_usage(answers[-1], wire)
    assert wire.complete


@pytest.mark.parametrize("kind", ["comment", "split", "drip"])
def test_the_sdk_reads_over_what_may_stand_between_events_and_over_every_cut(service: Service, kind: Any) -> None:
    service.responder.reply = REPLIES["calls"]
    service.fault(Fault(kind))
    answers = generate(service.clients["ai-studio"], "sse", MODEL)
    assert in_neutral_form(answers, streamed=True) == list(map(as_read, service.answer().parts))


def test_garbage_is_no_end_for_the_sdk(service: Service) -> None:
    service.responder.reply = SHORT_REPLY
    service.fault(Fault("garbage", after="text:1"))
    with pytest.raises(errors.UnknownApiResponseError):
        generate(service.clients["ai-studio"], "sse", MODEL)
    wire = service.answer()
    assert not wire.complete


def test_an_error_after_the_stream_began_is_raised_with_its_code(service: Service) -> None:
    service.responder.reply = SHORT_REPLY
    service.fault(Fault("error-event", after="text:1", status=503))
    with pytest.raises(errors.ServerError) as raised:
        generate(service.clients["ai-studio"], "sse", MODEL)
    wire = service.answer()
    assert (raised.value.code, raised.value.status) == (503, wire.error_kind)
    assert raised.value.message == wire.error_message
    assert (wire.status, wire.complete) == (200, False)
    assert [type(part) for part in wire.parts] == [Thought, Text]


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503, 504])
@pytest.mark.parametrize("form", ["batch", "sse"])
def test_an_error_answer_is_raised_with_all_that_we_read(service: Service, status: int, form: str) -> None:
    kind, message = DIALECT.error_kind(status)
    service.responder.reply = Refusal(
        rules.NOT_FOUND, status, kind, message, retry_after=3.5 if status == 429 else None
    )
    with pytest.raises(errors.APIError) as raised:
        generate(service.clients["ai-studio"], form, MODEL)
    wire = service.answer()
    assert (raised.value.code, raised.value.status, raised.value.message) == (
        wire.status, wire.error_kind, wire.error_message,
    )  # fmt: skip
    assert isinstance(raised.value, errors.ServerError if status >= 500 else errors.ClientError)
    assert wire.retry_after == (3.5 if status == 429 else None)


@pytest.mark.parametrize("form", ["batch", "sse"])
def test_a_conversation_through_the_sdks_own_chat_is_accepted_with_its_signatures(service: Service, form: str) -> None:
    """The round trip: what we issue, the SDK sends back in its own alphabet, and we know it again."""
    client = service.clients["ai-studio"]
    declared = types.Tool(function_declarations=[types.FunctionDeclaration(name="read_sensor", description="Read")])
    config = types.GenerateContentConfig(
        tools=[declared], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
    )
    chat = client.chats.create(model=MODEL, config=config)
    service.responder.reply = reply(FunctionCall("", "read_sensor", {"bed": "3"}), finish=FinishReason.TOOL_USE)

    def say(message: Any) -> list[types.GenerateContentResponse]:
        return [chat.send_message(message)] if form == "batch" else list(chat.send_message_stream(message))

    first = say("How moist is bed 3?")
    (call,) = [part.function_call for each in first for part in _parts(each) if part.function_call]
    service.responder.reply = SHORT_REPLY
    answer = types.Part(
        function_response=types.FunctionResponse(id=call.id, name="read_sensor", response={"output": "41 %"})
    )
    say(answer)
    exchange = service.run.exchanges[-1]
    assert list(exchange.findings) == []
    assert exchange.call is not None
    (sent,) = [part for message in exchange.call.messages for part in message.calls]
    assert signature_of(sent) in service.run.world.issued
    assert sent.id == call.id


def _parts(answer: types.GenerateContentResponse) -> list[types.Part]:
    assert answer.candidates
    content = answer.candidates[0].content
    return (content.parts if content is not None else None) or []
