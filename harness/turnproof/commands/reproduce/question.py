"""What a reproducer looks at, and which value of it is the defect: from a finding and the run that it was made in.

The value is taken from the run: the file shows the defect while the library does the same again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...judge.finding import Finding, Place, Side, tokens
from ...messages import ProviderResponse, Thought, thaw
from ...run.transcript import CallBegan, Chunk, Failed, Response, Transcript, WireRequest
from .recorded_answers import exchanges_of
from .unreproducible import UnreproducibleError

Sight = Literal["request", "header", "requests", "answer", "raised", "returned"]
"""Where the file looks: at a place of a request's body, at a header, at the number of requests, at a member of what the
call returned, at the class of what it raised, or at whether it returned although it should have raised.
"""

CONVERSATIONS = frozenset(("messages", "contents", "input"))
"""Members of a request that grow with the conversation: places in them are counted from their end."""

_PARTS = {"text": "text", "thought": "thoughts", "call": "calls"}


@dataclass(frozen=True)
class Question:
    """`steps` lead to the value: into the body of the request number `request`, or into the answer. `observed` is the
    value that shows the defect; of what was raised it is the names of the classes that the run had, outermost first.
    """

    sight: Sight
    call: int
    probe: str
    observed: Any
    steps: tuple[str | int, ...] = ()
    request: int = 0


def question_of(finding: Finding, transcript: Transcript) -> Question:
    """What to look at for a finding. Raises UnreproducibleError, with the reason, for a kind that no file can show."""
    if probe := finding.place.probe:
        raise UnreproducibleError(
            f"it takes several calls of one object to see it (the {probe} probe); a file makes one"
        )
    for place in (finding.place, *finding.related):
        for question in _questions(finding, place, transcript):
            return question
    side = finding.place.side
    raise UnreproducibleError(f"findings of this kind ({finding.code}, on the side {side}) show in no single call")


def _questions(finding: Finding, place: Place, transcript: Transcript) -> Iterator[Question]:
    if place.side is Side.PROCESS and finding.code.rpartition("/")[2] == "outcome":
        yield from _outcome(finding, place, transcript)
    if place.call < 0:
        return
    match place.side:
        case Side.REQUEST:
            yield from _request(place, transcript)
        case Side.RESPONSE:
            yield from _response(finding, place, transcript)
        case Side.ERROR:
            yield from _error(place, transcript)
        case Side.CALLBACK:
            yield from _callback(place, transcript)


def _request(place: Place, transcript: Transcript) -> Iterator[Question]:
    requests = exchanges_of(transcript, place.call, place.probe)
    number = next((n for n, one in enumerate(requests) if one.exchange == place.exchange), None)
    if number is None:
        return
    request = requests[number]
    if place.header:
        value = request.headers.get(place.header)
        yield Question("header", place.call, place.probe, value, (place.header,), number)
    elif place.pointer is not None:
        steps = _existing(request, place.pointer)
        yield Question("request", place.call, place.probe, _value(request.body, steps), steps, number)


def _existing(request: WireRequest, text: str) -> tuple[str | int, ...]:
    """The steps to a place in a body, as far as there is something; those in the conversation from its end."""
    steps: list[str | int] = []
    here: Any = request.body
    for token in tokens(text):
        if isinstance(here, list) and token.isdecimal() and int(token) < len(here):
            counted = int(token) - len(here) if len(steps) == 1 and steps[0] in CONVERSATIONS else int(token)
            steps.append(counted)
            here = here[counted]
        elif isinstance(here, dict) and token in here:
            steps.append(token)
            here = here[token]
        else:
            break
    return tuple(steps)


def _value(document: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        document = document[step]
    return document


def _response(finding: Finding, place: Place, transcript: Transcript) -> Iterator[Question]:
    response = _returned(transcript, place)
    if response is None:
        return
    if finding.code.rpartition("/")[2] == "returned" and not place.pointer:
        yield Question("returned", place.call, place.probe, response.text, ("text",))
    elif (member := _member(response, place.pointer or "")) is not None:
        yield Question("answer", place.call, place.probe, member_of(response, member), member)


def _member(response: ProviderResponse, text: str) -> tuple[str, ...] | None:
    """The member of an answer that a place in a response is about; None where it has none."""
    match tokens(text):
        case ("parts", index, *_) if index.isdecimal() and int(index) < len(response.parts):
            part = response.parts[int(index)]
            kind = _PARTS.get(str(part.__struct_config__.tag))
            return (kind,) if kind else None
        case ("usage", name, *_):
            return "usage", name
        case ("finish_reason" | "raw_finish", *_):
            return ("finish",)
        case () | ("parts", *_):
            return ("calls",) if response.calls else ("text",)
    return None


def member_of(response: ProviderResponse, member: Sequence[str]) -> Any:
    """What a recorded response has of a member of an answer, in the form in which libraries' code returns it."""
    match tuple(member):
        case ("text",):
            return response.text
        case ("thoughts",):
            return "".join(part.text for part in response.parts if isinstance(part, Thought))
        case ("calls",):
            return [[call.name, thaw(call.args)] for call in response.calls]
        case ("finish",):
            return response.raw_finish or str(response.finish_reason)
        case ("usage", name):
            return getattr(response.usage, name)
    raise LookupError(member)


def _error(place: Place, transcript: Transcript) -> Iterator[Question]:
    for event in transcript.of(Failed):
        if (event.call, event.probe, event.scope) == (place.call, place.probe, "call"):
            yield Question("raised", place.call, place.probe, _classes(event))


def _classes(event: Failed) -> list[str]:
    """The names of the classes of what was raised, and of what was behind it."""
    names, raised = [event.error.rpartition(".")[2]], event.raised
    while raised is not None:
        names.append(raised.type)
        raised = raised.cause or raised.context
    return list(dict.fromkeys(names))


def _callback(place: Place, transcript: Transcript) -> Iterator[Question]:
    chunks = [one.text for one in transcript.of(Chunk) if (one.call, one.probe) == (place.call, place.probe)]
    if chunks:
        yield Question("answer", place.call, place.probe, "".join(chunks), ("chunks",))


def _outcome(finding: Finding, place: Place, transcript: Transcript) -> Iterator[Question]:
    """A turn that ended otherwise than its script says: its last call raised, or returned what is no answer."""
    calls = [one.call for one in transcript.of(CallBegan) if one.turn == place.turn and not one.probe]
    if not calls:
        return
    last = Place(side=Side.ERROR, call=calls[-1])
    if finding.observed == "error":
        yield from _error(last, transcript)
    elif finding.expected == "error" and (response := _returned(transcript, last)) is not None:
        yield Question("returned", calls[-1], "", response.text, ("text",))


def _returned(transcript: Transcript, place: Place) -> ProviderResponse | None:
    ended = (one for one in transcript.of(Response) if (one.call, one.probe) == (place.call, place.probe))
    return next((one.response for one in ended), None)
