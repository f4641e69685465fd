"""The places of a finding for readers: the document of each around its pointer, and the bytes on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET

from ...judge.finding import ByteSpan, Finding, Place, Side
from ...judge.finding_words import place_in_words
from ...judge.view import View, document_of
from ...run.transcript import WireRequest, WireResponse
from .json_lines import JsonLine, frame
from .raw_bytes import Raw, raw_request, raw_response
from .transcripts import Transcripts

_TITLES = {
    Side.REQUEST: "the wire carried",
    Side.RESPONSE: "the adapter returned",
    Side.STREAM: "the server sent",
    Side.CALLBACK: "the callbacks received",
    Side.HISTORY: "the session holds",
    Side.ERROR: "what was raised",
    Side.PROCESS: "what else happened",
    Side.SPAN: "the spans say",
}


@dataclass(frozen=True, slots=True)
class Document:
    """One place. `title` names the document, `where` leads to the place in it; `problem` says what cannot be shown."""

    title: str
    where: str
    lines: tuple[JsonLine, ...]
    problem: str = ""


def documents(finding: Finding, transcripts: Transcripts) -> Iterator[Document]:
    """The finding's own place first, then those that belong to it."""
    for place in (finding.place, *finding.related):
        if place.pointer is not None or place.header:
            yield _document(finding, place, transcripts)


def _document(finding: Finding, place: Place, transcripts: Transcripts) -> Document:
    title = _TITLES[place.side]
    own = finding.place
    if place.run and place.run != own.run:
        path = place.path != own.path and (place.scenario, place.mode) == (own.scenario, own.mode)
        title += f", on the {place.path} path" if path else f", in {place.run}"
    within = place_in_words(place) if (place.turn, place.call) != (own.turn, own.call) else ""
    exchange = f"exchange {place.exchange}" if place.exchange >= 0 else ""
    where = ", ".join(filter(None, (within, exchange, f"header {place.header}" if place.header else "")))
    source = transcripts.of(place.run)
    if source.view is None:
        return Document(title, where, (), source.problem)
    try:
        return _finding_document(title, where, finding, place, source.view)
    except Exception as error:
        # A dialect reads what an adapter wrote. Whatever goes wrong with that takes away this document, and no more.
        return Document(title, where, (), f"this cannot be shown: {type(error).__name__}: {error}")


def _finding_document(title: str, where: str, finding: Finding, place: Place, view: View) -> Document:
    if place.header:
        lines = tuple(_header(place, view))
        return Document(title, where, lines, "" if lines else "the evidence has nothing there")
    assert place.pointer is not None
    document = document_of(view, place)
    if document is None:
        return Document(title, where, (), "the evidence has nothing there")
    found = frame(document, place.pointer, _compared_document(finding, place))
    problem = f"{found.lacks} is not there" if found.lacks else ""
    return Document(title, ": ".join(filter(None, (where, place.pointer or "the whole"))), found.lines, problem)


def _compared_document(finding: Finding, place: Place) -> object:
    """What the value in this place is compared with."""
    other = finding.expected if place is finding.place else finding.observed
    return None if other is UNSET else other


def _header(place: Place, view: View) -> Iterator[JsonLine]:
    for request in view.transcript.of(WireRequest):
        if request.exchange != place.exchange:
            continue
        for name, value in request.headers.items():
            yield JsonLine("", f"{name}: {value}", "here" if name == place.header else "")
        if place.header not in request.headers:
            yield JsonLine("", f"{place.header} was not sent, or is not kept", "here")


def raws(finding: Finding, transcripts: Transcripts) -> Iterator[Raw]:
    """The exchange that the finding's place is in, or that of its call, as it went over the wire."""
    own = finding.place
    source = transcripts.of(own.run)
    if source.transcript is None or source.view is None:
        return
    number = own.exchange
    if number < 0 and own.call >= 0:
        events = source.transcript.of(WireRequest)
        exchanges = [one.exchange for one in events if one.call == own.call and one.probe == own.probe]
        number = exchanges[-1] if exchanges else -1
    places = [one for one in (own, *finding.related) if one.run == own.run and one.exchange == number]
    pointers = [one.pointer for one in places if one.side is Side.REQUEST and one.pointer]
    spans = [one.span for one in places if one.side is Side.STREAM and one.span is not None]
    for request in source.transcript.of(WireRequest):
        if request.exchange == number:
            yield raw_request(request, pointers)
    for response in source.transcript.of(WireResponse):
        if response.exchange == number:
            yield raw_response(response, _as_sent(source.view, response, spans), _note(response))


def _note(response: WireResponse) -> str:
    if response.sent is None:
        return f"fault {response.fault}" if response.fault else ""
    if response.spelling:
        return f"spelling {response.spelling}"
    return f"fault {response.fault}" if response.fault else "rewritten by a proxy"


def _as_sent(view: View, response: WireResponse, spans: list[ByteSpan]) -> list[ByteSpan]:
    """Spans of the answer in the API's own spelling as those of the bytes that went out, event by event."""
    if response.sent is None or not spans:
        return spans
    try:
        own = view.dialect.split_stream(response.headers, response.data)
        sent = view.dialect.split_stream(response.headers, response.bytes_sent)
    except Exception:
        return []  # these bytes cannot be read, which may be what the finding is about: they are shown unmarked
    if len(own) != len(sent):
        return []
    moved, at, to = [], 0, 0
    for one, other in zip(own, sent, strict=True):
        moved += [ByteSpan(to, to + len(other.data)) for span in spans if span.start == at]
        at, to = at + len(one.data), to + len(other.data)
    return moved
