"""The API over a WebSocket: what the dialect makes of messages, and what the official client makes of the answers.

Nothing of a real socket was recorded. What is tested is what OpenAI documents and Open Responses specifies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from turnproof.dialects.base import SOCKET_METHOD, Call, HttpRequest, Refusal, World
from turnproof.dialects.openai_responses import DIALECT, rules
from turnproof.dialects.openai_responses.framing import MESSAGES
from turnproof.dialects.openai_responses.socket_memory import LIFE_SECONDS
from turnproof.judge.view.exchange import read_call, world_of
from turnproof.messages import FunctionCall, Text
from turnproof.run.transcript import WireRequest, WireResponse
from turnproof.wire.emulator import EmulatorServer

from ..answers import LOOK, reply
from ..responders import ScriptedService
from .asks import world
from .builders import KEY, MODEL, OPENING, user
from .client_service import ClientService
from .rendering import PROMPT

openai: Any = pytest.importorskip("openai")
pytest.importorskip("websockets")

Json = dict[str, Any]
SOCKETS = DIALECT.sockets
assert SOCKETS is not None


def message(*items: Json, socket: int = 0, **more: Any) -> HttpRequest:
    """A `response.create` on a socket."""
    body = {"type": "response.create", "model": MODEL, "input": list(items) or [OPENING], "store": False, **more}
    sent = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
    return HttpRequest(SOCKET_METHOD, "/v1/responses", {}, {"authorization": f"Bearer {KEY}"}, sent, socket)


def refusals(request: HttpRequest, at: World) -> list[Refusal]:
    found = DIALECT.parse(request, at)
    return DIALECT.validate(request, found, at) if isinstance(found, Call) else [found]


def answered(request: HttpRequest, at: World, *parts: Any, seed: str = "s") -> list[Json]:
    """The messages that answer a request, which the world then knows."""
    assert SOCKETS is not None
    call = DIALECT.parse(request, at)
    assert isinstance(call, Call), call
    refused = next((one for one in DIALECT.validate(request, call, at) if one.enforced), None)
    if refused is not None:
        rendered = DIALECT.render_refusal(refused, seed)
    elif call.operation != "generate":
        rendered = DIALECT.render_extra(call, PROMPT, at, seed)
    else:
        rendered = DIALECT.render(call, reply(*(parts or (Text("41 %"),))), PROMPT, at, seed)
    messages = SOCKETS.messages(rendered, request)
    SOCKETS.answered(messages, request, at)
    assert messages.headers == {"content-type": MESSAGES}
    return [json.loads(event.data) for event in messages.events]


def test_a_message_is_answered_with_the_events_of_the_stream_and_nothing_around_them() -> None:
    events = answered(message(), world())
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("response.created", "response.completed")
    assert events[-1]["response"]["store"] is False


def test_a_socket_goes_on_from_what_was_not_stored() -> None:
    at = world()
    first = answered(message(), at)[-1]["response"]["id"]
    call = DIALECT.parse(message(user("And bed 4?"), previous_response_id=first), at)
    assert isinstance(call, Call)
    assert [one.text for one in call.messages] == ["How moist is bed 3?", "41 %", "And bed 4?"]
    assert DIALECT.stored_ids(at) == DIALECT.stored_ids(world())


def test_another_socket_does_not_know_the_response_and_neither_does_http() -> None:
    at = world()
    first = answered(message(), at)[-1]["response"]["id"]
    elsewhere = message(socket=1, previous_response_id=first)
    (refused,) = refusals(elsewhere, at)
    assert (refused.rule, refused.kind, refused.outdated) == (
        rules.PREVIOUS_RESPONSE,
        "previous_response_not_found",
        True,
    )
    body = {"model": MODEL, "input": "More", "previous_response_id": first}
    http = HttpRequest("POST", "/v1/responses", {}, {"authorization": f"Bearer {KEY}"}, json.dumps(body).encode())
    assert [one.rule for one in refusals(http, at)] == [rules.PREVIOUS_RESPONSE]


def test_a_socket_goes_on_from_what_is_stored_elsewhere() -> None:
    at = world()
    first = answered(message(store=True), at)[-1]["response"]["id"]
    assert refusals(message(socket=1, previous_response_id=first), at) == []


def test_a_lane_holds_its_last_response_alone() -> None:
    at = world()
    first = answered(message(), at, seed="a")[-1]["response"]["id"]
    second = answered(message(), at, seed="b")[-1]["response"]["id"]
    assert refusals(message(previous_response_id=second), at) == []
    assert [one.rule for one in refusals(message(previous_response_id=first), at)] == [rules.PREVIOUS_RESPONSE]


def test_two_lanes_hold_a_response_each_and_one_branches_off_from_the_other() -> None:
    at = world()
    first = answered(message(stream_id="a"), at, seed="a")
    second = answered(message(stream_id="b"), at, seed="b")
    assert {one["stream_id"] for one in first} == {"a"}
    for events in (first, second):
        assert refusals(message(stream_id="c", previous_response_id=events[-1]["response"]["id"]), at) == []


def test_a_failed_request_drops_what_it_went_on_from() -> None:
    at = world()
    first = answered(message(), at, LOOK[2])[-1]["response"]["id"]
    (refused,) = answered(message(previous_response_id=first), at)
    assert (refused["type"], refused["status"]) == ("error", 400)
    assert "No tool output found" in refused["error"]["message"]
    (error_event,) = answered(message(previous_response_id=first), at)
    assert error_event["error"] == {
        "type": "invalid_request_error",
        "code": "previous_response_not_found",
        "message": f"Previous response with id '{first}' not found.",
        "param": "previous_response_id",
    }


def test_a_warm_up_is_an_empty_response_to_go_on_from() -> None:
    at = world()
    events = answered(message(generate=False), at)
    assert [one["type"] for one in events] == ["response.created", "response.in_progress", "response.completed"]
    call = DIALECT.parse(message(user("And bed 4?"), previous_response_id=events[-1]["response"]["id"]), at)
    assert isinstance(call, Call)
    assert [one.text for one in call.messages] == ["How moist is bed 3?", "And bed 4?"]
    again = answered(message(generate=False), at)
    assert again[-1]["response"]["id"] != events[-1]["response"]["id"]


def test_a_socket_lives_for_an_hour() -> None:
    now = 1_700_000_000.0
    at = world()
    at.clock = lambda: now
    first = answered(message(), at)[-1]["response"]["id"]
    now += LIFE_SECONDS
    (refused,) = refusals(message(previous_response_id=first), at)
    assert (refused.rule, refused.kind, refused.outdated) == (
        rules.SOCKET_LIFE,
        "websocket_connection_limit_reached",
        True,
    )
    assert refused.message == (
        "Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue."
    )
    assert refusals(message(socket=1), at) == []


@pytest.mark.parametrize("lane", ["", "a b", "x" * 257, 7], ids=repr)
def test_a_lane_has_a_name_of_its_form(lane: object) -> None:
    assert [one.kind for one in refusals(message(stream_id=lane), world())] == ["invalid_stream_id"]
    assert refusals(message(stream_id="a.b-c_9"), world()) == []


def test_a_socket_has_32_lanes_with_a_name() -> None:
    at = world()
    assert not any(refusals(message(stream_id=f"lane-{n}"), at) for n in range(32))
    assert [one.kind for one in refusals(message(stream_id="one-more"), at)] == ["websocket_stream_limit_reached"]
    assert refusals(message(stream_id="lane-0"), at) == []
    assert refusals(message(), at) == []


@pytest.mark.parametrize("name", ["stream", "stream_options", "background"])
def test_what_belongs_to_http_is_only_logged(name: str) -> None:
    value: Any = {} if name == "stream_options" else True
    (logged,) = refusals(message(**{name: value}, store=True), world())
    assert (logged.rule, logged.enforced) == (rules.HTTP_FIELD, False)
    assert name in logged.message


@pytest.mark.parametrize(
    ("sent", "rule"),
    [
        (b"\x00\xff", rules.MALFORMED_JSON),
        (b"Hello", rules.MALFORMED_JSON),
        (b"[]", rules.MALFORMED_JSON),
        (b'{"model": "gpt-5", "input": "Hi"}', rules.SOCKET_MESSAGE),
        (b'{"type": "response.sing"}', rules.SOCKET_MESSAGE),
        (b'{"type": "response.create", "input": "Hi"}', rules.MISSING_FIELD),
    ],
)
def test_a_message_that_cannot_be_read_is_answered_with_an_error(sent: bytes, rule: object) -> None:
    assert SOCKETS is not None
    request = HttpRequest(SOCKET_METHOD, "/v1/responses", {}, {"authorization": f"Bearer {KEY}"}, sent, 0)
    refused = DIALECT.parse(request, world())
    assert isinstance(refused, Refusal)
    assert refused.rule is rule
    shown = SOCKETS.messages(DIALECT.render_refusal(refused, "s"), request)
    (error_event,) = [json.loads(event.data) for event in shown.events]
    assert (error_event["type"], error_event["status"], error_event["error"]["message"]) == (
        "error",
        400,
        refused.message,
    )
    read = DIALECT.read_response(shown.status, shown.headers, shown.events[0].data)
    assert (read.status, read.error_message, read.complete) == (400, refused.message, True)


def test_a_wait_stands_in_the_error_that_has_no_head() -> None:
    assert SOCKETS is not None
    refusal = Refusal(rules.RATE_LIMIT, 429, *DIALECT.error_kind(429), retry_after=2.5)
    shown = SOCKETS.messages(DIALECT.render_refusal(refusal, "s"), message())
    read = DIALECT.read_response(shown.status, shown.headers, shown.events[0].data)
    assert (read.error_kind, read.retry_after) == ("rate_limit_exceeded", 2.5)


@pytest.mark.parametrize("handshake", [{"upgrade": "WebSocket"}, {}], ids=["handshake", "plain"])
def test_a_get_is_a_handshake_where_it_asks_for_one(handshake: dict[str, str]) -> None:
    request = HttpRequest("GET", "/v1/responses", {}, {"authorization": f"Bearer {KEY}", **handshake}, b"", 0)
    found = DIALECT.parse(request, world())
    if handshake:
        assert isinstance(found, Call)
        assert found.operation == "connect"
        assert DIALECT.validate(request, found, world()) == []
    else:
        assert isinstance(found, Refusal)
        assert found.rule is rules.METHOD_NOT_ALLOWED


@pytest.mark.parametrize(("sent", "rule"), [({}, rules.MISSING_KEY), ({"authorization": "Bearer x"}, rules.BAD_KEY)])
def test_a_handshake_needs_a_key(sent: dict[str, str], rule: object) -> None:
    request = HttpRequest("GET", "/v1/responses", {}, {"upgrade": "websocket", **sent}, b"", 0)
    assert [one.rule for one in refusals(request, world())] == [rule]


def test_a_chain_of_a_socket_is_read_back_from_the_traces_of_a_run() -> None:
    assert SOCKETS is not None
    at = world()
    seen: list[tuple[WireRequest, WireResponse | None]] = []
    last: str | None = None
    for number, text in enumerate(("How moist is bed 3?", "And bed 4?", "Thanks")):
        sent = message(user(text), previous_response_id=last, socket=7)
        call = DIALECT.parse(sent, at)
        assert isinstance(call, Call)
        rendered = SOCKETS.messages(DIALECT.render(call, reply(Text("41 %")), PROMPT, at, f"s{number}"), sent)
        body = b"".join(event.data for event in rendered.events)
        last = json.loads(body.splitlines()[-1])["response"]["id"]
        request = WireRequest(
            exchange=number, method=SOCKET_METHOD, path="/v1/responses", headers={}, body=json.loads(sent.body),
            digest="", operation="generate", connection=7,
        )  # fmt: skip
        response = WireResponse(
            exchange=number, status=200, headers=dict(rendered.headers), body=body.decode(), written=1,
            ended="completed",
        )  # fmt: skip
        seen.append((request, response))
    found = read_call(DIALECT, seen[-1][0], world_of(DIALECT, seen))
    assert found is not None
    assert [one.text for one in found.messages] == ["How moist is bed 3?", "41 %", "And bed 4?", "41 %", "Thanks"]


@pytest.fixture
def service(server: EmulatorServer) -> ClientService:
    return ClientService(server)


def until_end(connection: Any) -> Any:
    """The last event of an answer."""
    for event in connection:
        if event.type in ("response.completed", "response.failed", "response.incomplete", "error"):
            return event
    return None


def test_the_official_client_goes_on_from_response_to_response(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK[:2])
    with service.client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="How moist is bed 3?", store=False)
        first = until_end(connection).response
        connection.response.create(model=MODEL, input="Go on", store=False, previous_response_id=first.id)
        second = until_end(connection).response
    assert second.output_text == "Let me look at bed 3. 🌱"
    assert second.previous_response_id == first.id
    opened, first_exchange, more = service.run.exchanges
    assert (opened.status, opened.operation, opened.request.method) == (101, "connect", "GET")
    assert {one.connection for one in (opened, first_exchange, more)} == {0}
    assert more.call is not None
    assert [one.role for one in more.call.messages] == ["user", "model", "user"]
    assert service.answer().parts[-1] == LOOK[1]


def test_the_official_client_gets_a_refusal_as_an_error_and_goes_on(service: ClientService) -> None:
    service.responder.reply = reply(Text("Yes."))
    with service.client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="Hi", store=False, previous_response_id="resp_of_nobody")
        refused = until_end(connection)
        assert (refused.type, refused.status, refused.error.code) == ("error", 400, "previous_response_not_found")
        connection.response.create(model=MODEL, input="Hi", store=False)
        assert until_end(connection).response.output_text == "Yes."


def test_the_lanes_of_the_official_client_have_a_conversation_each(service: ClientService) -> None:
    from openai.lib.responses_websocket import ResponsesWebSocketLimits, ResponsesWebSocketSession

    service.responder.reply = reply(Text("Yes."))
    limits = ResponsesWebSocketLimits(4, 100, 400, 1 << 20, 1 << 22)
    connection = service.client.responses.connect().enter()
    with ResponsesWebSocketSession(connection, limits=limits) as session:
        lanes = {name: session.lane(name) for name in ("a", "b")}
        last: dict[str, Any] = {}
        for text in ("Hello", "And now?"):
            for name, lane in lanes.items():
                request_message: Any = {
                    "type": "response.create",
                    "model": MODEL,
                    "input": f"{text} {name}",
                    "store": False,
                }
                request_message |= last.get(name, {})
                lane.send(request_message)
                last[name] = {"previous_response_id": lane.get_final_response(timeout=60).id}
    texts = [[one.text for one in each.call.messages] for each in service.run.exchanges[3:] if each.call is not None]
    assert texts == [["Hello a", "Yes.", "And now? a"], ["Hello b", "Yes.", "And now? b"]]


@pytest.fixture
def foreign() -> Iterator[Any]:
    with EmulatorServer() as running:
        run = running.open_run(DIALECT, ScriptedService(running, DIALECT).responder)
        yield openai.OpenAI(base_url=run.base_url, api_key="a wrong key", max_retries=0)


def test_the_official_client_with_a_wrong_key_gets_no_socket(foreign: Any) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as failure, foreign.responses.connect():
        pass
    assert failure.value.response.status_code == 401
    assert json.loads(failure.value.response.body)["error"]["code"] == "invalid_api_key"


def test_a_call_in_a_socket_has_the_same_parts_as_one_of_http(service: ClientService) -> None:
    service.responder.reply = reply(*LOOK)
    with service.client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="Hi", store=False, tools=[])
        until_end(connection)
    over_socket = service.answer()
    stream = service.client.responses.create(model=MODEL, input="Hi", store=False, stream=True)
    list(stream)
    assert [type(one) for one in over_socket.parts] == [type(one) for one in service.answer().parts]
    assert any(isinstance(one, FunctionCall) for one in over_socket.parts)
    assert over_socket.complete
