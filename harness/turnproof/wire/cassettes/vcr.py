"""Our cassettes in somebody's own tests, with vcrpy or pytest-recording (extra `vcr`).

In `conftest.py`:

    from turnproof.cassettes.vcr import register

    def pytest_recording_configure(config, vcr):
        register(vcr)

From then on requests are matched by what they say: another order of keys, another `max_tokens`, or a query parameter
that the provider ignores still finds its answer. vcrpy's default matches on the address alone, and its body matcher
compares every recorded body anew for every request.

Registering also replaces the YAML loader: JSON text is read by msgspec, anything else as before. It keeps
`metadata.turnproof` away from what vcrpy gets to see, because pytest-recording 0.14 cannot unpack a cassette that has
metadata ("too many values to unpack"). vcrpy on its own reads the files as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import msgspec

from ...dialects import dialect, dialect_names
from ...dialects.base import Refusal
from ...dialects.contract import Dialect
from ...messages import JSON
from .match import both_sides, canonical, digest_of, first_difference, read_recorded
from .model import RecordedRequest
from .scrub import UNRECORDED

NAME = "turnproof"
"""The name under which the matcher is registered, for a `match_on` of one's own."""

MATCH_ON = ("method", "scheme", "host", "port", "path", NAME)
"""What `register` makes the default: no query, the form covers what of it matters."""


SHOWN = 3
"""For how many recorded requests a difference is worked out; vcrpy shows no more."""


class Request(Protocol):
    """What the matcher looks at of a `vcr.request.Request` (vcrpy ships no types)."""

    method: str
    uri: str
    headers: Mapping[str, str]
    body: Any

    @property
    def host(self) -> str | None: ...


class VCR(Protocol):
    """What `register` uses of a `vcr.VCR`."""

    match_on: Any

    def register_matcher(self, name: str, matcher: Any) -> None: ...

    def register_serializer(self, name: str, serializer: Any) -> None: ...


def register(vcr: VCR) -> None:
    """Make this VCR instance match requests by their content, and load our files fast.

    Sets the instance's default `match_on`; one given to `use_cassette` or by the `vcr_config` fixture still wins, and
    should then name `turnproof` itself.
    """
    vcr.register_matcher(NAME, Matcher(_by_host()))
    vcr.register_serializer("yaml", Serializer())
    vcr.match_on = MATCH_ON


def matcher(r1: Request, r2: Request) -> bool:
    """The matcher alone, for `vcr.register_matcher`; returns and raises as `Matcher` does."""
    return _shared_matcher()(r1, r2)


class Matcher:
    """A vcrpy matcher: two requests match when they have the same canonical form; else it says where they differ.

    `dialects` are found by host name, and where a host serves several, by who can read the request; a request to any
    other host is compared byte by byte. Whether a stream is asked for counts too: an answer recorded in one form is no
    answer in the other. A request is parsed once, however many others it is compared with.
    """

    def __init__(self, dialects: Mapping[str, Sequence[Dialect]]) -> None:
        self.__name__ = NAME  # vcrpy asks every matcher for it
        self._dialects = dialects
        self._digests: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self._forms: WeakKeyDictionary[Request, JSON] = WeakKeyDictionary()
        self._explained: dict[str, dict[str, str]] = {}
        self._latest: _Read | None = None

    def __call__(self, r1: Request, r2: Request) -> bool:
        """Whether they match; `r2` is the recorded request.

        Raises AssertionError with JSON path and both sides instead of returning False as often as vcrpy shows it.
        """
        current, recorded = self._digest(r1), self._digest(r2)
        if current == recorded:
            return True
        explanation = self._explanation(current, recorded, r1, r2)
        if explanation is None:
            return False
        raise AssertionError(explanation)

    def _digest(self, request: Request) -> str:
        known = self._digests.get(request)
        if known is None:
            known = self._digests[request] = self._read(request).digest
        return known

    def _read(self, request: Request) -> _Read:
        """The request read, once for all the copies of it: vcrpy asks each question with a fresh one."""
        body, latest = _body(request), self._latest
        if latest is None or latest.body is not body or latest.address != (request.method, request.uri):
            form = self._form(request, body)
            latest = self._latest = _Read(body, (request.method, request.uri), digest_of(form), form)
        return latest

    def _form(self, request: Request, body: bytes) -> JSON:
        for wire in self._dialects.get(request.host or "", ()):
            headers = {name.lower(): str(value) for name, value in request.headers.items()}
            call = read_recorded(wire, RecordedRequest(request.method, request.uri, headers, body))
            if not isinstance(call, Refusal) and call.operation not in UNRECORDED:
                return {**canonical(wire, call), "stream": call.stream}
        return {"uri": request.uri, "body": body.decode(errors="backslashreplace")}

    def _explanation(self, current: str, recorded: str, r1: Request, r2: Request) -> str | None:
        # vcrpy asks about every recorded request, and shows what the first three had to say if none matches.
        known = self._explained.setdefault(current, {})
        if recorded not in known and len(known) < SHOWN and _place(r1) == _place(r2):
            known[recorded] = self._difference(r1, r2)
        return known.get(recorded)

    def _difference(self, r1: Request, r2: Request) -> str:
        own_form = self._read(r1).form
        if r2 not in self._forms:
            self._forms[r2] = self._form(r2, _body(r2))
        found = first_difference(self._forms[r2], own_form)
        assert found is not None, "equal forms have equal digests"
        path, *sides = found
        recorded, current = both_sides(*sides)
        return f"differs at {path.replace('$.form', '$', 1)}: recorded {recorded}, sent {current}"


class _Read(NamedTuple):
    body: bytes
    address: tuple[str, str]
    digest: str
    form: JSON


class Serializer:
    """A vcrpy serializer for `.yaml` files: JSON text by msgspec, everything else as vcrpy does it."""

    def deserialize(self, text: str) -> Any:
        """What vcrpy makes of a cassette's text, without the metadata that is ours."""
        try:
            data = msgspec.json.decode(text)
        except msgspec.DecodeError:
            data = _vcrpys_own().deserialize(text)
        if isinstance(data, dict) and isinstance(data.get("metadata"), dict):
            data["metadata"].pop("turnproof", None)
        return data

    def serialize(self, cassette: Any) -> str:
        """The text that vcrpy writes."""
        return str(_vcrpys_own().serialize(cassette))


def _vcrpys_own() -> Any:
    return import_module("vcr.serializers.yamlserializer")


def _body(request: Request) -> bytes:
    body = request.body
    if hasattr(body, "read"):
        body = body.read()
    if isinstance(body, str):
        return body.encode()
    if body is None or isinstance(body, bytes):
        return body or b""
    return b"".join(body)


def _place(request: Request) -> tuple[str, str]:
    return request.method, urlsplit(request.uri).path


def _by_host() -> dict[str, list[Dialect]]:
    found: dict[str, list[Dialect]] = {}
    for each in map(dialect, dialect_names()):
        found.setdefault(urlsplit(each.default_host).hostname or each.default_host, []).append(each)
    return found


@cache
def _shared_matcher() -> Matcher:
    return Matcher(_by_host())
