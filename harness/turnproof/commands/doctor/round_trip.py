"""One round trip through an adapter, and what it says of the binding, in words.

A question, a tool call (where the adapter claims tools), its result, an answer. The rules are asked in the order in
which a request travels: opened, sent, arrived, accepted, read, handed back, and held. Only the first problem is
reported, because it often causes the ones after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from ..._base.counts import counted
from ..._base.loopback import is_loopback
from ...dialects import api_of, dialect_names
from ...dialects import dialect as dialect_named
from ...dialects.catalogue import same_model
from ...errors import BindingError, ContractError, PayloadError
from ...judge.undecided_words import ABOUT_ARGUMENTS
from ...judge.view.exchange import read_call, world_of
from ...messages import FunctionCall, Text
from ...provider import LEGACY_METHODS, Capabilities, Path
from ...run.tracebacks import at_own_frame
from ...run.transcript import (
    CallBegan,
    Chunk,
    Failed,
    FunctionCallDetected,
    HistorySnapshot,
    Refused,
    Response,
    ToolRun,
    Transcript,
    TurnEnded,
    WireRequest,
    WireResponse,
)
from ...scenarios import Scenario
from ...scenarios.loader import from_data
from ...subject import SubjectKind
from .outbound_connections import addresses

QUESTION, RESULT, ANSWER = "How moist is bed 3?", "41 %", "Bed 3 is at 41 %."
TOOL, ARGUMENTS = "read_sensor", {"bed": "3"}


@dataclass(frozen=True, slots=True)
class Trip:
    """A run of the round trip. `strays` are requests that reached the server outside of every run."""

    transcript: Transcript
    tools: bool
    strays: tuple[str, ...] = ()
    port: int = 0
    kind: SubjectKind = "adapter"

    @property
    def path(self) -> Path:
        return self.transcript.key.path

    @property
    def streamed(self) -> bool:
        return self.transcript.key.mode == "stream"

    @property
    def call(self) -> str:
        """The method that is called first, as its author knows it."""
        if not self.shows_calls:
            return "send()"
        if self.path == "stateless":
            return "complete()"
        return "send_message_streaming()" if self.streamed else "send_message()"

    @property
    def shows_calls(self) -> bool:
        """Whether the calls of a provider can be seen; of others there is what their user was told."""
        return bool(self.transcript.of(CallBegan)) or not self.transcript.of(TurnEnded)

    @property
    def requests(self) -> list[WireRequest]:
        return [event for event in self.transcript.of(WireRequest) if not event.extra]

    @property
    def elsewhere(self) -> list[str]:
        """Addresses that were connected to, other than the emulator's."""
        return [
            one
            for one in addresses(self.transcript.end.stdout + self.transcript.end.stderr)
            if one.rpartition(":")[2] != str(self.port)
        ]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What was seen, and what to do. `ours`: it is no fault of the binding."""

    observation: str
    do: str
    ours: bool = False


def round_trip(claims: Capabilities, *, delegated: bool = False) -> Scenario:
    """The conversation; without a tool for who claims none, or calls tools by itself."""
    data: dict[str, object] = {"title": "One round trip", "system": "You keep a greenhouse log."}
    if claims.tools and not delegated:
        tool = {"name": TOOL, "description": "Read one sensor", "takes": {"bed": "string"}}
        model = [[{"call": TOOL, "args": ARGUMENTS}], [ANSWER]]
        data |= {"tools": [tool], "results": {TOOL: RESULT}, "turns": [{"user": QUESTION, "model": model}]}
    else:
        data["turns"] = [{"user": QUESTION, "model": [[ANSWER]]}]
    return from_data(data, "doctor/round_trip")


def trouble(trip: Trip) -> Trouble | None:
    """The first thing that is wrong; None where the round trip went as it should."""
    for rule in _RULES:
        if found := next(rule(trip), None):
            return found
    return None


def leak(trip: Trip) -> Trouble | None:
    """Where the key was seen that belongs into an auth header alone; whatever else is wrong."""
    if leaks := trip.transcript.end.leaks:
        advice = "take it out of what is logged, printed, raised and returned"
        return Trouble(f"the key was seen in {', '.join(leaks)}", advice)
    return None


_OPENING: Mapping[SubjectKind, str] = {
    "adapter": "open_{path}(endpoint) has to return a ready provider from the endpoint's base_url, api_key, model and"
    " options",
    "session": "open(setup) has to return a session on setup.endpoint, or on a provider of setup.open_provider()",
    "agent": "open(setup) has to return an agent whose program asks its model at setup.endpoint",
}
"""What to do where a subject cannot be opened."""


def _opening_troubles(trip: Trip) -> Iterator[Trouble]:
    end = trip.transcript.end
    match end.how:
        case "open-failed":
            advice = _OPENING[trip.kind].format(path=trip.path)
            named, _, detail = end.detail.partition(": ")
            if named == BindingError.__name__:
                found, _, advice = detail.rpartition(": ")
                yield Trouble(f"it cannot be opened: {found}", advice)
            else:
                yield Trouble(f"it cannot be opened: {end.detail}", advice)
        case "hung":
            yield Trouble(f"it hung: {end.detail}", "look for a lock, a queue or a read without a timeout")
        case "died":
            yield Trouble(f"it ended its process: {end.detail}", "look for os._exit(), a signal, or a crash in C code")
        case "harness-fault":
            yield Trouble(end.detail, "turnproof failed, and not the binding: see emulator and machine", ours=True)


def _addressed(trip: Trip) -> Iterator[Trouble]:
    """Whether requests went to the endpoint's address and to no other."""
    form = f"endpoint.base_url, which {_form(trip)},"
    if away := [one for one in trip.elsewhere if not is_loopback(one.rpartition(":")[0])]:
        message = f"it calls {away[0]}, and not the endpoint" if not trip.requests else f"it calls {away[0]} as well"
        yield Trouble(f"{message}; nothing was let out", f"pass {form} to the client instead of its own address")
    if trip.requests:
        return
    if trip.strays:
        advice = f"use the whole of {form} and not its host alone: the path in it identifies the run"
        yield Trouble(f"it sent {trip.strays[0]}, outside of the address that it was given", advice)
    if trip.elsewhere:
        message = f"it calls {trip.elsewhere[0]} on this machine, and not the endpoint"
        yield Trouble(message, f"pass {form} to the client instead of its own address")


_METHOD = re.compile(rf"has no attribute '(?:complete|{'|'.join(LEGACY_METHODS)})'")
"""A method of a provider that an object lacks. Other attributes are missed within the adapter."""


_UNKNOWN_OPTION = re.compile(
    r"TypeError: ((?!complete\b)[\w.]+(?<!\.complete)\(\)) got an unexpected keyword argument '(\w+)'"
)
"""What Python says of an option that a function of an SDK has no more, or not yet."""


def _call_troubles(trip: Trip) -> Iterator[Trouble]:
    """Whether the call could be made, and came back, where nothing was refused."""
    scope = "call" if trip.shows_calls else "turn"
    failed = next((event for event in trip.transcript.of(Failed) if event.scope == scope), None)
    if failed is None or _refused_exchange(trip) is not None:
        return
    message = f"{failed.error}: {failed.message}"
    where = "" if trip.requests else " before a request arrived"
    if failed.error == ContractError.__name__:
        found, _, advice = failed.message.partition(": ")
        yield Trouble(found, advice)
    elif failed.error == PayloadError.__name__:
        advice = "use the types of turnproof.messages where the adapter makes this value: the path begins at its object"
        yield Trouble(
            f"a value of another type was put into a message, a part or a response{where}: {failed.message}", advice
        )
    elif failed.error == "AttributeError" and _METHOD.search(failed.message):
        advice = f"a {trip.path} provider has {trip.call}: open_{trip.path}() may have returned something else"
        yield Trouble(f"{failed.message}{where}", advice)
    elif not trip.requests and (option := _UNKNOWN_OPTION.match(message)):
        advice = (
            f"the library and its SDK do not fit: {option[1]} knows no {option[2]!r}. Install a version of the SDK that"
            " the library was made for"
        )
        yield Trouble(f"{trip.call} raised {message}{where}", advice)
    elif not failed.typed:
        advice = "raise a ProviderError, of turnproof.errors, for whatever a call may meet; here look at what raised it"
        yield Trouble(f"{trip.call} raised {message}{where}", advice)
    elif not trip.requests:
        advice = "check that the client gets endpoint.base_url and endpoint.api_key, and that there is no proxy between"
        yield Trouble(f"no request reached the emulator; {trip.call} raised {message}", advice)
    else:
        yield Trouble(f"{trip.call} raised {message}", "the emulator had accepted the request: look at how it is read")


def _accepted(trip: Trip) -> Iterator[Trouble]:
    """Whether the service took what was sent."""
    found = _refused_exchange(trip)
    if found is None:
        return
    request, response = found
    message = f"{request.method} {request.path} was answered with {response.status}"
    finding = next((one for one in request.findings if one.get("enforced")), None)
    if finding is not None:
        message += f": {finding['message']}" + (f" (at {finding['path']})" if finding["path"] != "$" else "")
    if dialects_read := _other_dialects(trip, request):
        message = f"{request.method} {request.path} is a request of {' or '.join(dialects_read)}, and the binding says "
        yield Trouble(
            f"{message}dialect={trip.transcript.dialect!r}",
            f"write dialect={dialects_read[0]!r} in the binding, and a model of it",
        )
    elif response.status == 404:
        advice = (
            f"endpoint.base_url {_form(trip)}, as the official SDK takes it: add to it what that SDK adds, and no more"
        )
        yield Trouble(message, f"{advice}; if the path is right, look at the model")
    elif response.status in (401, 403):
        yield Trouble(
            message, "send endpoint.api_key, and not a key from the environment, in the way this API requires"
        )
    else:
        rule = f", rule {finding['rule']}" if finding is not None else ""
        yield Trouble(message, f"send what the API takes{rule}")


def _asked_model(trip: Trip) -> Iterator[Trouble]:
    """Whether it asked for the endpoint's model. An agent may ask others beside the conversation."""
    dialect, model = dialect_named(trip.transcript.dialect), trip.transcript.model
    world = world_of(dialect, ())
    for request in trip.requests if trip.shows_calls else ():
        call = read_call(dialect, request, world)
        if call is not None and call.model and not same_model(dialect.models, call.model, model):
            message = (
                f"{request.method} {request.path} asked for the model {call.model!r}, and the endpoint has {model!r}"
            )
            yield Trouble(message, "pass on endpoint.model")
            return


def _read(trip: Trip) -> Iterator[Trouble]:
    """Whether the answers were read as they were meant."""
    responses = [event.response for event in trip.transcript.of(Response)]
    if not trip.requests:
        yield Trouble(f"no request reached the emulator, and {trip.call} returned all the same", "call the endpoint")
        return
    if not trip.shows_calls:
        yield from _answer_troubles(trip)
        return
    calls = [part for response in responses for part in response.parts if isinstance(part, FunctionCall)]
    if trip.tools and not calls:
        message = "the model called a tool, and the response has no FunctionCall"
        yield Trouble(message, "put it into the parts, or do not claim tools")
        return
    if trip.tools and (calls[0].name != TOOL or dict(calls[0].args) != ARGUMENTS):
        message = f"the model called {TOOL}({ARGUMENTS}), the response has {calls[0].name}({dict(calls[0].args)})"
        yield Trouble(message, "read name and arguments as the wire has them; the arguments are parsed JSON")
    if trip.tools and not any(event.outcome == "ok" for event in trip.transcript.of(ToolRun)):
        yield Trouble("the tool was never run", "hand the call on with its id, name and arguments")
    text = "".join(part.text for response in responses[-1:] for part in response.parts if isinstance(part, Text))
    if text != ANSWER:
        yield Trouble(f"the model answered {ANSWER!r}, the response has {text!r}", "return its text as it came")


def _answer_troubles(trip: Trip) -> Iterator[Trouble]:
    """Whether the tool ran, and the user was told the answer, where no call can be seen."""
    if trip.tools and not _tool_ran(trip):
        yield Trouble("the tool was never run", "pass the setup's tools to the code that calls them")
    for ended in trip.transcript.of(TurnEnded):
        if not ended.text.endswith(ANSWER):
            yield Trouble(f"the model answered {ANSWER!r}, the reply is {ended.text!r}", "return its text as it came")
        elif trip.streamed and ANSWER not in ended.shown:
            yield Trouble(
                f"on_chunk got {ended.shown!r}, the model answered {ANSWER!r}", "hand each text on as it comes"
            )


def _tool_ran(trip: Trip) -> bool:
    """Whether the tool ran: somebody reports it, or its result is in a request. A session that opens its endpoint
    itself need not call `setup.on_tool`."""
    if any(event.outcome == "ok" for event in trip.transcript.of(ToolRun)):
        return True
    dialect = dialect_named(trip.transcript.dialect)
    world = world_of(dialect, ())
    calls = (read_call(dialect, request, world) for request in trip.requests)
    results = (result for call in calls if call is not None for one in call.messages for result in one.results)
    return any(RESULT in str(result.result) for result in results)


def _streamed(trip: Trip) -> Iterator[Trouble]:
    """Whether what came was told while it came."""
    if not trip.streamed or not trip.shows_calls:
        return
    text = "".join(event.text for event in trip.transcript.of(Chunk))
    if not text:
        advice = "stream whenever on_chunk is given, and hand each text to it, or do not claim streaming"
        yield Trouble("on_chunk was never called", advice)
    elif text != ANSWER:
        yield Trouble(f"on_chunk got {text!r}, the model answered {ANSWER!r}", "hand each text on as it comes, once")
    if trip.tools and not trip.transcript.of(FunctionCallDetected):
        yield Trouble("on_function_call was never called", "call it once for each call, with its whole arguments")


def _told_of_itself(trip: Trip) -> Iterator[Trouble]:
    """Whether a session says what it holds, and whatever else it is asked about itself."""
    for event in trip.transcript.of(Refused):
        if event.operation == "tool":
            yield Trouble(event.message, ABOUT_ARGUMENTS)
            continue
        yield Trouble(
            f"{event.operation}() raised {event.error}: {event.message}{at_own_frame(event.raised)}",
            "mend it in the binding: what it returns is what the session is judged by",
        )
    snapshots = [event for event in trip.transcript.of(HistorySnapshot) if event.owner == "session"]
    if snapshots and not snapshots[-1].messages:
        advice = "return the messages that the session holds, the oldest first, each as a turnproof.messages.Message"
        yield Trouble("history() has no messages after a turn", advice)


_RULES: tuple[Callable[[Trip], Iterator[Trouble]], ...] = (
    _opening_troubles,
    _addressed,
    _call_troubles,
    _accepted,
    _asked_model,
    _read,
    _streamed,
    _told_of_itself,
)


def _refused_exchange(trip: Trip) -> tuple[WireRequest, WireResponse] | None:
    """The first request that was not answered with success, with its answer."""
    answers = {event.exchange: event for event in trip.transcript.of(WireResponse)}
    pairs = ((request, answers[request.exchange]) for request in trip.requests if request.exchange in answers)
    return next((pair for pair in pairs if pair[1].status >= 400), None)


def _other_dialects(trip: Trip, request: WireRequest) -> list[str]:
    """The dialects that read a request which the binding's own dialect cannot read, with or without a version in its
    path: the path behind `endpoint.base_url` is what the SDK of another API adds."""
    own = dialect_named(trip.transcript.dialect)
    if read_call(own, request, world_of(own, ())) is not None:
        return []
    path_below = request.path.removeprefix(own.service.base_path)
    found = []
    for name in dialect_names():
        other = dialect_named(name)
        if name == api_of(trip.transcript.dialect):
            continue
        for path in (request.path, path_below, other.service.base_path + path_below):
            moved = msgspec.structs.replace(request, path=path)
            if read_call(other, moved, world_of(other, ())) is not None:
                found.append(name)
                break
    return found


def _form(trip: Trip) -> str:
    base = dialect_named(trip.transcript.dialect).service.base_path
    return f"ends with {base}" if base else "has no version at its end"


def summary(trip: Trip) -> str:
    """What a round trip came to that went well."""
    first = trip.requests[0]
    counts = [f"{counted(len(trip.requests), 'request')} to {first.method} {first.path}"]
    counts += ["a tool call and its result"] if trip.tools else []
    counts += (
        [f"{counted(len(trip.transcript.of(Chunk)), 'piece')} of text"] if trip.streamed and trip.shows_calls else []
    )
    return ", ".join(counts)
