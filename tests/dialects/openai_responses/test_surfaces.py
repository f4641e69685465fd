"""The surfaces of the API over real sockets: where each is reached, what it refuses in its own words, what it keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Reply
from turnproof.dialects.openai_responses import DIALECT, SURFACES, rules
from turnproof.dialects.openai_responses.surfaces import STATELESS, Surface
from turnproof.messages import FinishReason, FunctionCall, Text, Thought
from turnproof.wire.emulator import EmulatorServer, ServerRun

from ..answers import reply
from ..requests import Json
from ..responders import ScriptedAnswer
from .builders import CLOSED, KEY, MODEL

openai: Any = pytest.importorskip("openai")

STATEFUL = [surface for surface in Surface if surface not in STATELESS and surface is not Surface.COPILOT]
OTHERS = [surface for surface in Surface if surface not in (Surface.OPENAI, Surface.COPILOT)]
QUESTION: Json = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How moist is bed 3?"}]}
BEARER = {"authorization": f"Bearer {KEY}"}


class Service:
    """One surface: a run of it, and what it answers next."""

    def __init__(self, server: EmulatorServer, surface: Surface) -> None:
        self.responder = ScriptedAnswer()
        self.say(reply(Text("Yes.")))
        self.run: ServerRun = server.open_run(SURFACES[surface], self.responder, keys=frozenset({KEY}))
        self.host = self.run.base_url.removesuffix(SURFACES[surface].service.base_path)
        self.client = openai.OpenAI(base_url=self.run.base_url, api_key=KEY, max_retries=0)

    def say(self, script: Reply) -> None:
        self.responder.reply = script

    def create(self, **body: Any) -> Any:
        return self.client.responses.create(**{"model": MODEL, "input": [QUESTION], **body})

    @property
    def findings(self) -> list[tuple[str, bool]]:
        """The rules that the last request breaks, and whether each is enforced."""
        return [(each.rule.id.partition("/")[2], each.enforced) for each in self.run.exchanges[-1].findings]


Opener = Callable[[Surface], Service]


@pytest.fixture(scope="module")
def opened() -> Iterator[Opener]:
    with EmulatorServer() as server:
        yield lambda surface: Service(server, surface)


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=60) as client:
        yield client


# -- where each is reached


@pytest.mark.parametrize("surface", [surface for surface in Surface if surface is not Surface.COPILOT])
def test_the_official_client_speaks_with_each_surface_at_its_usual_address(surface: Surface, opened: Opener) -> None:
    service = opened(surface)
    service.say(reply(Text("41 %"), FunctionCall("call_1", "look", {"bed": "3"}), finish=FinishReason.TOOL_USE))
    tools = [{"type": "function", "name": "look", "parameters": CLOSED}]
    whole = service.create(tools=tools, store=False)
    assert (whole.status, whole.output_text, whole.output[1].name) == ("completed", "41 %", "look")
    with service.client.responses.create(
        model=MODEL, input=[QUESTION], tools=tools, store=False, stream=True
    ) as stream:
        events = list(stream)
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "41 %"
    assert events[-1].type == "response.completed"
    assert service.findings == []


def test_azure_is_reached_by_both_addresses_and_both_headers(opened: Opener) -> None:
    service = opened(Surface.AZURE)
    client = openai.AzureOpenAI(
        azure_endpoint=service.host, api_version="2025-04-01-preview", api_key=KEY, max_retries=0
    )
    created = client.responses.create(model=MODEL, input="Hello")
    request = service.run.exchanges[-1].request
    assert (request.path, request.query["api-version"]) == ("/openai/responses", "2025-04-01-preview")
    assert (request.headers["api-key"], "authorization" in request.headers) == (KEY, False)
    assert client.responses.retrieve(created.id).id == created.id
    entra = openai.AzureOpenAI(
        azure_endpoint=service.host, api_version="2025-04-01-preview", azure_ad_token=KEY, max_retries=0
    )
    assert entra.responses.create(model=MODEL, input="Hello").status == "completed"


def test_azure_says_what_its_filters_made_of_prompt_and_answer(opened: Opener) -> None:
    filters = opened(Surface.AZURE).create().to_dict()["content_filters"]
    assert [(each["source_type"], each["blocked"]) for each in filters] == [("prompt", False), ("completion", False)]
    assert "content_filters" not in opened(Surface.OPENAI).create().to_dict()


@pytest.mark.parametrize("surface", OTHERS)
def test_a_surface_has_an_address_a_key_and_a_name_of_its_own(surface: Surface) -> None:
    one = dialect(f"openai-responses@{surface}")
    assert one.name == f"openai-responses@{surface}"
    assert one.service.key_variables != DIALECT.service.key_variables
    assert one.default_host != DIALECT.default_host
    assert dialect("openai-responses@openai") is DIALECT


@pytest.mark.parametrize(("surface", "head"), [(Surface.OPENROUTER, "openai/"), (Surface.AZURE, ""), (Surface.XAI, "")])
def test_models_are_listed_as_the_surface_names_them(surface: Surface, head: str, opened: Opener) -> None:
    assert f"{head}{MODEL}" in {model.id for model in opened(surface).client.models.list()}


# -- what each refuses in its own words


@dataclass(frozen=True)
class Refused:
    """A request that a surface refuses by a rule, with the answer; `legal` differs as little as can be."""

    surface: Surface
    rule: str
    body: Json
    legal: Json
    answer: Json
    status: int = 400
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: BEARER)

    @property
    def id(self) -> str:
        return self.rule


def _llamacpp(message: str, kind: str = "invalid_request_error") -> Json:
    return {"error": {"code": 400, "message": message, "type": kind}}


def _openrouter(name: str) -> Json:
    return {"error": {"code": "invalid_prompt", "message": f"'{name}' is not supported: this API is stateless."}} | {
        "metadata": None
    }


BODY: Json = {"model": MODEL, "input": [QUESTION]}
WRONG = {"authorization": "Bearer wrong"}
THOUGHT: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
REFUSED = (
    Refused(Surface.AZURE, "azure-key", BODY, BODY, {
        "error": {
            "code": "401",
            "message": "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a "
            "valid key for an active subscription and use a correct regional API endpoint for your resource.",
        },
    }, 401, headers={"api-key": "wrong"}),
    Refused(Surface.AZURE, "azure-version", BODY, BODY, {"error": {"code": "404", "message": "Resource not found"}},
            404, path="/openai/responses"),
    Refused(Surface.AZURE, "azure-deployment", BODY | {"model": "gpt-0"}, BODY, {
        "error": {
            "code": "DeploymentNotFound",
            "message": "The API deployment for this resource does not exist. If you created the deployment within the "
            "last 5 minutes, please wait a moment and try again.",
        },
    }, 404),
    Refused(Surface.XAI, "xai-key", BODY, BODY, {
        "code": "Client specified an invalid argument",
        "error": "Incorrect API key provided: ***. You can obtain an API key from https://console.x.ai.",
    }, headers=WRONG),
    Refused(Surface.XAI, "xai-instructions", BODY | {"instructions": "Be brief.", "previous_response_id": "resp_1"},
            BODY | {"instructions": "Be brief."},
            {"code": "400", "error": "Argument not supported: instructions and previous_response_id together"}),
    Refused(Surface.OPENROUTER, "openrouter-key", BODY, BODY,
            {"error": {"code": 401, "message": "User not found."}, "metadata": None}, 401, headers=WRONG),
    Refused(Surface.OPENROUTER, "openrouter-state", BODY | {"previous_response_id": "resp_1"}, BODY,
            _openrouter("previous_response_id")),
    Refused(Surface.OPENROUTER, "openrouter-state", BODY | {"store": True}, BODY | {"store": False},
            _openrouter("store")),
    Refused(Surface.LLAMACPP, "llamacpp-previous-response", BODY | {"previous_response_id": "resp_1"}, BODY,
            _llamacpp("llama.cpp does not support 'previous_response_id'.")),
    Refused(Surface.LLAMACPP, "llamacpp-input", {"model": MODEL}, BODY, _llamacpp("'input' is required")),
    Refused(Surface.LLAMACPP, "llamacpp-item",
            BODY | {"input": [QUESTION, {"role": "assistant", "content": [{"type": "output_text", "text": "41 %"}]}]},
            BODY | {"input": [QUESTION, {"type": "message", "role": "assistant",
                                         "content": [{"type": "output_text", "text": "41 %"}]}]},
            _llamacpp("Cannot determine type of 'item'")),
    Refused(Surface.LLAMACPP, "llamacpp-reasoning", BODY | {"input": [QUESTION, THOUGHT | {"content": []}]},
            BODY | {"input": [QUESTION, THOUGHT | {"content": [{"type": "reasoning_text", "text": "Dry."}]}]},
            _llamacpp("item['content'] is empty")),
    Refused(Surface.LLAMACPP, "llamacpp-file",
            BODY | {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]}]}, BODY,
            _llamacpp("'input_file' is not supported by llamacpp at this moment")),
)  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.id)
def test_a_surface_refuses_what_a_named_place_shows_in_its_own_words(
    case: Refused, opened: Opener, http: httpx2.Client
) -> None:
    service = opened(case.surface)
    own = f"{service.run.base_url}/responses"
    address = f"{service.host}{case.path}" if case.path else own
    answer = http.post(address, json=case.body, headers=dict(case.headers))
    assert (answer.status_code, answer.json()) == (case.status, case.answer)
    assert service.findings[0] == (case.rule, True)
    read = SURFACES[case.surface].read_response(answer.status_code, dict(answer.headers), answer.content)
    assert json.dumps(read.error_message) in json.dumps(case.answer)
    legal = http.post(own, json=case.legal, headers=dict(BEARER))
    assert (legal.status_code, service.findings) == (200, [])


def test_every_rule_of_a_surface_is_shown_here() -> None:
    own = {rule.id.partition("/")[2] for rule in rules.ALL if rule.id.partition("/")[2].startswith(tuple(OTHERS))}
    assert own == {case.rule for case in REFUSED} | {"llamacpp-window"}


def test_llamacpp_refuses_a_prompt_that_does_not_fit(opened: Opener, http: httpx2.Client) -> None:
    service = opened(Surface.LLAMACPP)
    window = service.run.world.models[MODEL].context_tokens
    answer = http.post(f"{service.run.base_url}/responses", json=BODY | {"input": "word " * window}, headers=BEARER)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (400, 400, "exceed_context_size_error")
    assert error["message"].endswith(f"exceeds the available context size ({window} tokens), try increasing it")
    assert SURFACES[Surface.LLAMACPP].error_meaning(400, error["type"], error["message"]) == "context-limit"


@pytest.mark.parametrize("surface", [Surface.XAI, Surface.OPENROUTER])
def test_what_openai_refuses_and_nobody_has_shown_here_is_only_logged(surface: Surface, opened: Opener) -> None:
    service = opened(surface)
    dangling = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
    service.create(input=[QUESTION, dangling, QUESTION])
    assert service.findings == [("dangling-call", False)]
    azure = opened(Surface.AZURE)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1"):
        azure.create(input=[QUESTION, dangling, QUESTION])


def test_llamacpp_takes_what_it_does_not_know(opened: Opener) -> None:
    service = opened(Surface.LLAMACPP)
    orphan = {"type": "function_call_output", "call_id": "call_1", "output": "41 %"}
    service.create(input=[QUESTION, orphan], conversation="conv_1", background=True, extra_body={"nonsense": 1})
    assert service.findings == []


def test_a_code_of_openrouter_for_every_wrong_request_is_no_filter() -> None:
    assert SURFACES[Surface.OPENROUTER].error_meaning(400, "invalid_prompt", "Wrong.") is None
    assert DIALECT.error_meaning(400, "invalid_prompt", "Flagged") == "content-filter"
    key = "Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai."
    assert SURFACES[Surface.XAI].error_meaning(400, "Client specified an invalid argument", key) == "authentication"


# -- what each keeps


@pytest.mark.parametrize("surface", STATEFUL)
def test_a_stored_response_is_retrieved_and_gone_on_from(surface: Surface, opened: Opener) -> None:
    service = opened(surface)
    first = service.create()
    assert service.client.responses.retrieve(first.id).id == first.id
    service.create(previous_response_id=first.id, input="And bed 4?")
    call = service.run.exchanges[-1].call
    assert call is not None
    assert [message.text for message in call.messages][::2] == ["How moist is bed 3?", "And bed 4?"]


@pytest.mark.parametrize("surface", sorted(STATELESS))
def test_a_stateless_surface_keeps_nothing_whatever_is_asked(surface: Surface, opened: Opener) -> None:
    service = opened(surface)
    created = service.create()
    assert SURFACES[surface].stored_ids(service.run.world) == ()
    assert created.to_dict().get("store") in (False, None)
    with pytest.raises(openai.NotFoundError):
        service.client.responses.retrieve(created.id)
    with pytest.raises(openai.NotFoundError):
        service.client.responses.delete(created.id)
    with pytest.raises(openai.NotFoundError):
        service.client.conversations.create()
    assert SURFACES[surface].sockets is None
    assert not {"held-history", "items-by-id"} & SURFACES[surface].traits


def test_a_chain_of_xai_has_the_instructions_of_its_first_request(opened: Opener) -> None:
    service = opened(Surface.XAI)
    first = service.create(instructions="Be brief.")
    service.create(previous_response_id=first.id, input="And bed 4?")
    call = service.run.exchanges[-1].call
    assert call is not None
    assert [part.text for part in call.system if isinstance(part, Text)] == ["Be brief."]
    maker = opened(Surface.OPENAI)
    first = maker.create(instructions="Be brief.")
    maker.create(previous_response_id=first.id, input="And bed 4?")
    call = maker.run.exchanges[-1].call
    assert call is not None
    assert call.system == ()


@pytest.mark.parametrize("surface", [Surface.XAI, Surface.AZURE])
def test_a_socket_holds_a_chain_that_is_not_stored(surface: Surface, opened: Opener) -> None:
    pytest.importorskip("websockets")
    service = opened(surface)
    with service.client.responses.connect() as connection:
        ids: list[str] = []
        for text in ("One", "Two"):
            previous = {"previous_response_id": ids[-1]} if ids else {}
            connection.response.create(model=MODEL, input=text, store=False, **previous)
            for event in connection:
                if event.type == "response.completed":
                    ids.append(event.response.id)
                    break
    call = service.run.exchanges[-1].call
    assert call is not None
    assert [message.text for message in call.messages][::2] == ["One", "Two"]


# -- how llama.cpp writes


def test_llamacpp_writes_reasoning_as_text_and_nothing_of_what_was_asked(opened: Opener) -> None:
    service = opened(Surface.LLAMACPP)
    service.say(reply(Thought("Dry."), Text("41 %")))
    body = service.create().to_dict()
    assert set(body) == {"completed_at", "created_at", "id", "model", "object", "output", "status", "usage"}
    assert set(body["usage"]) == {"input_tokens", "output_tokens", "total_tokens", "input_tokens_details"}
    assert {name: value for name, value in body["output"][0].items() if name != "id"} == {
        "type": "reasoning",
        "summary": [],
        "content": [{"text": "Dry.", "type": "reasoning_text"}],
        "encrypted_content": "",
    }


def test_llamacpp_streams_events_without_places_and_ends_them_together(opened: Opener) -> None:
    service = opened(Surface.LLAMACPP)
    call = FunctionCall("call_1", "look", {"bed": "3"})
    service.say(reply(Thought("Dry."), Text("41 %"), call, finish=FinishReason.TOOL_USE))
    tools = [{"type": "function", "name": "look", "parameters": CLOSED}]
    events = [event.to_dict() for event in service.create(stream=True, tools=tools)]
    names = [event["type"] for event in events]
    assert not {"sequence_number", "output_index", "content_index"} & {name for event in events for name in event}
    assert [set(events[0]["response"]), names[-1]] == [{"id", "object", "status"}, "response.completed"]
    assert names[-6:-1] == [
        "response.output_item.done",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.done",
    ]
    thought = "".join(event["delta"] for event in events if event["type"] == "response.reasoning_text.delta")
    assert thought == "Dry."
    assert "response.function_call_arguments.done" not in names


def test_llamacpp_calls_an_answer_complete_that_the_limit_cut(opened: Opener) -> None:
    service = opened(Surface.LLAMACPP)
    service.say(reply(Text("41"), finish=FinishReason.MAX_TOKENS))
    assert service.create().status == "completed"
