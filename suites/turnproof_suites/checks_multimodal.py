"""Images and documents: their bytes reach the model, in the place where they stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from turnproof.judge.finding import Compared, Place
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import View
from turnproof.judge.view.plain_content import plain
from turnproof.messages import JSON, FileRef, InlineData, Message, ToolResult

from .content import matched_results
from .reading import ReadRequest, read_requests
from .words import without_blanks


def _media(messages: Iterable[Message]) -> Iterator[InlineData | FileRef]:
    for message in messages:
        if message.role == "user":
            yield from (part for part in message.parts if isinstance(part, InlineData | FileRef))


def _same(media: InlineData | FileRef, sent: InlineData | FileRef) -> bool:
    if isinstance(media, InlineData):
        return isinstance(sent, InlineData) and (media.mime_type, media.data) == (sent.mime_type, sent.data)
    return isinstance(sent, FileRef) and media.uri == sent.uri


def _is_image(part: InlineData | FileRef) -> bool:
    return part.mime_type.startswith("image/")


def _name(part: InlineData | FileRef) -> str:
    return (
        f"{part.mime_type} of {len(part.data)} bytes"
        if isinstance(part, InlineData)
        else f"{part.mime_type} {part.uri}"
    )


_IMAGE_MISSING = finding(
    "multimodal/images-reach-the-wire/missing",
    "An image of the user is missing from the request.",
    "the user's {expected:words}",
    "a request with {observed} from the user",
)
_DOCUMENT_MISSING = finding(
    "multimodal/documents-reach-the-wire/missing",
    "A document of the user is missing from the request.",
    "the user's {expected:words}",
    "a request with {observed} from the user",
)


def _reaches(view: View, images: bool, what: str, missing: FindingCode) -> Findings:
    for request in read_requests(view):
        shown = list(_media(request.wire.messages))
        left = list(shown)
        for message in request.session_messages:
            for part in (part for part in _media([message]) if _is_image(part) is images):
                twin = next((one for one in left if _same(part, one)), None)
                if twin is not None:
                    left.remove(twin)  # a picture that is shown twice goes out twice
                    yield Compared(what)
                else:
                    yield missing(
                        request.at_wire_message(message),
                        expected=_name(part),
                        observed=[_name(one) for one in shown],
                        related=(request.at_session(part),),
                    )


@check("multimodal/images-reach-the-wire")
def images_reach_the_wire(view: View) -> Findings:
    """With their bytes and type, or their address; in every later request too."""
    yield from _reaches(view, True, "images", _IMAGE_MISSING)


@check("multimodal/documents-reach-the-wire")
def documents_reach_the_wire(view: View) -> Findings:
    """As images do."""
    yield from _reaches(view, False, "documents", _DOCUMENT_MISSING)


_ATTACHMENT_MISSING = finding(
    "multimodal/attachments-of-results-reach-the-wire/missing",
    "An image or a document that a tool returned is missing from the request.",
    "the {expected:words} in the result of the call {call}, or behind the results",
    "a result with {observed}",
)


@check("multimodal/attachments-of-results-reach-the-wire")
def attachments_of_results_reach_the_wire(view: View) -> Findings:
    """What a tool returned beside its text, in the result of that call, or behind the results in the same turn."""
    for request in read_requests(view):
        later_media = _beside_results(request.wire.messages)
        shown = tuple(later_media)
        for own, sent in matched_results(request.session_messages, request.wire.messages):
            inside = list(sent.attachments)
            for number, part in enumerate(own.attachments):
                if _take_out(part, inside) or _take_out(part, later_media):
                    yield Compared("attachments")
                else:
                    yield _ATTACHMENT_MISSING(
                        _at_attachments(request, sent, shown),
                        expected=_name(part),
                        observed=[_name(one) for one in sent.attachments],
                        related=(request.at_session(own, "attachments", number),),
                        call=own.call_id,
                    )


def _at_attachments(request: ReadRequest, result: ToolResult, media: Sequence[InlineData | FileRef]) -> Place:
    """Where the attachments of a result stand: in it, or in the last message that shows some `media` results."""
    showing = [n for n, one in enumerate(request.wire.messages) if any(part in media for part in one.parts)]
    if showing and not result.attachments:
        return request.at("messages", showing[-1])
    return request.at_part(result, "attachments")


def _beside_results(messages: Sequence[Message]) -> list[InlineData | FileRef]:
    """The media that the user's side shows behind results, in one message or several, before the model speaks again."""
    found: list[InlineData | FileRef] = []
    is_after_results = False
    for message in messages:
        is_after_results = message.role == "tool" or (is_after_results and message.role == "user")
        found += _media([message]) if is_after_results else ()
    return found


def _take_out(part: InlineData | FileRef, shown: list[InlineData | FileRef]) -> bool:
    """Whether a part is shown; if so it is taken away: two tools that return the same picture return two."""
    at = next((n for n, one in enumerate(shown) if _same(part, one)), None)
    if at is not None:
        del shown[at]
    return at is not None


_ORDER = finding(
    "multimodal/content-keeps-its-order/order",
    "The user's texts, images and documents went out in another order.",
    "the user's {expected}, in this order",
    "the same content in another order",
)


@check("multimodal/content-keeps-its-order")
def content_keeps_its_order(view: View) -> Findings:
    """Between the texts between which it stood."""
    for request in read_requests(view):
        sent = _content_row(message for message in request.wire.messages if message.role == "user")
        for message in request.session_messages:
            if message.role != "user" or not any(isinstance(part, InlineData | FileRef) for part in message.parts):
                continue
            content = _content_row(view.dialect.in_order_of(request.wire, [message]))
            if len(content) < 2 or not all(_stands_in(sent, item) for item in content):
                continue
            if any(_matches(sent[n : n + len(content)], content) for n in range(len(sent) - len(content) + 1)):
                yield Compared("orders of content")
            else:
                expected = [form for one in plain([message]) for form in one["parts"]]
                yield _ORDER(
                    request.at_wire_message(message), expected=expected, related=(request.at_session(message),)
                )


def _content_row(messages: Iterable[Message]) -> list[JSON]:
    """What some messages show, in a row: media, and between them the text without blanks, in however many blocks."""
    row: list[JSON] = []
    for form in (form for message in plain(messages) for form in message["parts"]):
        if "text" not in form:
            row.append(form)
        elif row and isinstance(row[-1], str):
            row[-1] += without_blanks([form["text"]])
        else:
            row.append(without_blanks([form["text"]]))
    return row


def _stands_in(row: list[JSON], item: JSON) -> bool:
    return any(item in text for text in row if isinstance(text, str)) if isinstance(item, str) else item in row


def _matches(sent: list[JSON], expected: list[JSON]) -> bool:
    """Whether both have the same content; texts at the borders may be joined with those of other messages."""
    first, last = sent[0], sent[-1]
    begins = (
        first.endswith(expected[0]) if isinstance(first, str) and isinstance(expected[0], str) else first == expected[0]
    )
    ends = (
        last.startswith(expected[-1])
        if isinstance(last, str) and isinstance(expected[-1], str)
        else last == expected[-1]
    )
    return begins and ends and sent[1:-1] == expected[1:-1]
