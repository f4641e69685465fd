"""A cassette as text, and back.

The text is JSON in the shape that vcrpy reads (`version`, `interactions`), one interaction a line, and JSON is a
subset of YAML: so vcrpy loads the file as it is, and msgspec loads it many times faster. What VCR has no place for
(where a recording comes from, which turn an exchange belongs to, where a stream was cut) stands under
`metadata.turnproof`, one entry an interaction in the same order.

Two things keep the text readable for both. Characters that JSON allows and YAML refuses, or folds as line breaks, are
escaped. A body that is not UTF-8 becomes a YAML `!!binary` scalar, the one spot where the text is not plain JSON.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from ..._base.counts import counted
from ...errors import CassetteError
from .model import FORMAT, Cassette, Interaction, Provenance, RecordedRequest, RecordedResponse

VCR_VERSION = 1

# What the YAML 1.1 reader refuses in a stream, the byte order mark, and what it takes for a line break inside quotes.
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_BINARY = b'!!binary "'
# The mark of a binary body while it passes through the JSON decoder. No text body starts with NUL: see `_body_out`.
_MARKED = b'"\\u0000base64 '
_MARK = "\0base64 "


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    method: str
    uri: str
    headers: dict[str, list[str]]
    body: str | None


class _StatusLine(msgspec.Struct, forbid_unknown_fields=True):
    code: int
    message: str | None


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    string: str


class _Response(msgspec.Struct, forbid_unknown_fields=True):
    status: _StatusLine
    headers: dict[str, list[str]]
    body: _Body


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    request: _Request
    response: _Response


class _Exchange(msgspec.Struct, forbid_unknown_fields=True):
    turn: int
    round: int
    digest: str
    offsets: tuple[int, ...]
    extra: bool = False
    stream: bool = False


class _Origin(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    recorded: Provenance
    date: str
    dialect: str
    model: str
    scenario: str
    adapter: str
    exchanges: tuple[_Exchange, ...]
    contributor: str = ""


class _Metadata(msgspec.Struct):
    turnproof: _Origin


class _File(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    metadata: _Metadata
    interactions: tuple[_Entry, ...]


class _FormatOnly(msgspec.Struct):
    format: int


class _MetadataOfAnyFormat(msgspec.Struct):
    turnproof: _FormatOnly


class _FileOfAnyFormat(msgspec.Struct):
    metadata: _MetadataOfAnyFormat


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(_File)
_any_format_decoder = msgspec.json.Decoder(_FileOfAnyFormat)


def encode(cassette: Cassette) -> bytes:
    """The cassette as UTF-8 text: the same bytes for the same cassette, whatever the platform."""
    origin = {
        "format": FORMAT,
        "recorded": cassette.recorded,
        "date": cassette.date,
        "dialect": cassette.dialect,
        "model": cassette.model,
        "scenario": cassette.scenario,
        "adapter": cassette.adapter,
    }
    if cassette.contributor:
        origin["contributor"] = cassette.contributor
    exchanges = _lines([_encode(_exchange_out(interaction)) for interaction in cassette.interactions])
    entries = _lines([_encode(_entry_out(interaction)) for interaction in cassette.interactions])
    text = (
        b'{"version":%d,\n"metadata":{"turnproof":%s,"exchanges":%s}},\n"interactions":%s}\n'
        % (VCR_VERSION, _encode(origin)[:-1], exchanges, entries)
    ).decode()
    return _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def decode(data: bytes, *, file: str, remedy: str) -> Cassette:
    """The cassette in this text.

    Raises CassetteError naming `file`, the place and `remedy` (the command that records it again) when the text is
    damaged, is no cassette of ours, or has a newer format.
    """
    text = data.replace(_BINARY, _MARKED) if _BINARY in data else data
    try:
        read = _decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise _unreadable(text, error, file, remedy) from error
    origin = read.metadata.turnproof
    _check_versions(read, file, remedy)
    if len(origin.exchanges) != len(read.interactions):
        counts = f"{counted(len(origin.exchanges), 'exchange')} for {counted(len(read.interactions), 'interaction')}"
        raise _damaged(file, "$.metadata.turnproof.exchanges", counts, remedy)
    interactions = []
    for number, (entry, exchange) in enumerate(zip(read.interactions, origin.exchanges, strict=True)):
        try:
            interactions.append(_interaction_in(entry, exchange))
        except _PlaceError as error:
            raise _damaged(file, error.path.format(number), error.reason, remedy) from error
    return Cassette(
        adapter=origin.adapter,
        scenario=origin.scenario,
        dialect=origin.dialect,
        model=origin.model,
        recorded=origin.recorded,
        date=origin.date,
        interactions=tuple(interactions),
        contributor=origin.contributor,
    )


def _lines(items: list[bytes]) -> bytes:
    return b"[\n" + b",\n".join(items) + b"]" if items else b"[]"


def _exchange_out(interaction: Interaction) -> dict[str, object]:
    return {
        "turn": interaction.turn,
        "round": interaction.round,
        "digest": interaction.digest,
        "offsets": interaction.offsets,
        "extra": interaction.extra,
        "stream": interaction.stream,
    }


def _entry_out(interaction: Interaction) -> dict[str, object]:
    request, response = interaction.request, interaction.response
    return {
        "request": {
            "method": request.method,
            "uri": request.uri,
            "headers": _headers_out(request.headers),
            "body": _body_out(request.body),
        },
        "response": {
            "status": {"code": response.status, "message": _phrase(response.status)},
            "headers": _headers_out(response.headers),
            "body": {"string": _body_out(response.body)},
        },
    }


def _headers_out(headers: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: [headers[name]] for name in sorted(headers)}


def _body_out(body: bytes) -> str | msgspec.Raw:
    # A text that starts with NUL goes out as binary as well, so that the decoder's own mark cannot be met in a text.
    if not body.startswith(b"\0"):
        try:
            return body.decode()
        except UnicodeDecodeError:
            pass
    return msgspec.Raw(_BINARY + b64encode(body) + b'"')


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


class _PlaceError(Exception):
    """`path` has one `{}` for the number of the interaction."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def _interaction_in(entry: _Entry, exchange: _Exchange) -> Interaction:
    request, response = entry.request, entry.response
    body = _body_in(response.body.string, "$.interactions[{}].response.body.string")
    cuts = exchange.offsets
    if cuts and (list(cuts) != sorted(set(cuts)) or cuts[0] <= 0 or cuts[-1] >= len(body)):
        reason = f"the cuts must ascend within the body's {len(body)} bytes, got {list(cuts)!r:.80}"
        raise _PlaceError("$.metadata.turnproof.exchanges[{}].offsets", reason)
    return Interaction(
        request=RecordedRequest(
            method=request.method,
            uri=request.uri,
            headers=_headers_in(request.headers),
            body=_body_in(request.body or "", "$.interactions[{}].request.body"),
        ),
        response=RecordedResponse(response.status.code, _headers_in(response.headers), body),
        turn=exchange.turn,
        round=exchange.round,
        digest=exchange.digest,
        offsets=cuts,
        stream=exchange.stream,
        extra=exchange.extra,
    )


def _headers_in(headers: Mapping[str, list[str]]) -> dict[str, str]:
    return {name.lower(): ", ".join(values) for name, values in headers.items()}


def _body_in(text: str, path: str) -> bytes:
    if not text.startswith(_MARK):
        return text.encode()
    try:
        return b64decode(text.removeprefix(_MARK), validate=True)
    except Base64Error as error:
        raise _PlaceError(path, f"not base64: {error}") from error


def _check_versions(read: _File, file: str, remedy: str) -> None:
    found = read.metadata.turnproof.format
    if found > FORMAT:
        raise _newer(file, found, remedy)
    if found < 1:
        raise _damaged(file, "$.metadata.turnproof.format", f"there is no format {found}", remedy)
    if read.version != VCR_VERSION:
        raise _damaged(file, "$.version", f"VCR version {read.version}, expected {VCR_VERSION}", remedy)


def _unreadable(text: bytes, error: msgspec.MsgspecError, file: str, remedy: str) -> CassetteError:
    """The best thing to say about text that does not decode."""
    if not isinstance(error, msgspec.ValidationError):
        return _damaged(file, _line(text, error), f"not the JSON of a cassette: {error}", remedy)
    try:
        found = _any_format_decoder.decode(text).metadata.turnproof.format
    except msgspec.ValidationError:
        found = FORMAT
    if found > FORMAT:
        return _newer(file, found, remedy)
    reason, _, path = str(error).partition(" - at ")
    return _damaged(file, path.strip("`") or "$", reason, remedy)


def _line(text: bytes, error: msgspec.MsgspecError) -> str:
    byte = re.search(r"\(byte (\d+)\)", str(error))
    before = text[: int(byte[1])] if byte else text
    breaks = before.count(b"\n")
    return f"line {breaks + 1}"


def _damaged(file: str, place: str, reason: str, remedy: str) -> CassetteError:
    return CassetteError(f"{file}: {place}: the cassette is damaged: {reason}. Record it again: {remedy}")


def _newer(file: str, version: int, remedy: str) -> CassetteError:
    return CassetteError(
        f"{file}: $.metadata.turnproof.format: written by a newer turnproof (format {version}, this one reads up to "
        f"{FORMAT}). Upgrade turnproof, or record it again: {remedy}"
    )
