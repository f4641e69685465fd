"""Which callers an adapter has for a plan, how each of them is opened, and the certificate of those on TLS."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TypeAlias

from ...errors import ProviderError
from ...provider import Binding, Conversation, Path
from ...wire.emulator.server_run import CANARY_KEY
from .callers import Caller, Kind, open_caller
from .canned_provider import CannedServer
from .concurrent_sessions import HISTORY, crowd_of, open_crowd
from .conversations import LONG, SHORT, WHOLE, Answer, conversation, half, is_sent_whole
from .floor import FLOOR, Floor, has_floor
from .peers.process import PeerProcess
from .whole_conversation import TURNS, open_conversing


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server on 127.0.0.1 needs, its key with its chain as PEM, and a context of clients that trust it."""

    server: bytes
    trusting: ssl.SSLContext


def can_make_certificates() -> bool:
    """Whether trustme is installed."""
    return find_spec("trustme") is not None


def temporary_certificate() -> Certificate:
    """A new certificate for loopback, of an authority that signs nothing else, for one run."""
    # An extra, for this alone.
    import trustme

    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    context = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
    return Certificate(issued.private_key_and_cert_chain_pem.bytes(), context)


_FLOORED: tuple[Kind, ...] = ("turn", "stream", "long-stream", "tls", "crowd")
"""What the floor does."""

_USUAL = 200
"""How long a history is over TLS, which costs the same whatever was said."""

CallerKey: TypeAlias = tuple[Kind, str, int]
"""Who does what, with how many messages of history."""


def answer_to(kind: Kind) -> Answer:
    """How a turn of that kind is answered."""
    match kind:
        case "stream":
            return SHORT
        case "long-stream":
            return LONG
        case _:
            return WHOLE


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured of an adapter: these of its paths, over histories of these lengths, in so many rounds.

    `long` is for what takes a minute and not a second: whole conversations, crowds, memory, allocations, TLS. `peers`
    are measured in the same rounds. With `kinds` single turns of other kinds are left out.
    """

    paths: tuple[Path, ...]
    messages: tuple[int, ...]
    rounds: int
    long: bool = False
    peers: tuple[str, ...] = ()
    certificate: Certificate | None = None
    kinds: tuple[Kind, ...] | None = None

    def includes(self, kind: Kind) -> bool:
        """Whether turns of that kind are measured."""
        return self.kinds is None or kind in self.kinds


def paths_of(binding: Binding, paths: Sequence[Path]) -> list[Path]:
    """Those of the paths that the adapter has."""
    return [path for path in paths if binding.opener(path) is not None]


@dataclass(frozen=True, slots=True)
class Opening:
    """Opens the callers of one adapter; `peers` are added while it is in use."""

    binding: Binding
    plan: Plan
    server: CannedServer
    peers: dict[str, PeerProcess] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """The paths of the plan that the adapter has."""
        return paths_of(self.binding, self.plan.paths)

    @property
    def own(self) -> tuple[str, ...]:
        """Whoever runs in this process: plain calls, then paths. The floor sends what the first of them sent."""
        return (*self.binding.plain_calls, *self.paths)

    @property
    def streams(self) -> bool:
        """Whether the adapter claims to stream."""
        return self.binding.claims().streaming

    def turns(self) -> Iterator[CallerKey]:
        """All that is a single turn, of the kinds of the plan."""
        return (key for key in self._all_turns() if self.plan.includes(key[0]))

    def _all_turns(self) -> Iterator[CallerKey]:
        tools = self.binding.claims().tools
        for messages in self.plan.messages:
            for name in (*self.own, *self.peers):
                yield "turn", name, messages
                if self.streams:
                    yield "stream", name, messages
                    if messages == min(self.plan.messages):
                        yield "long-stream", name, messages
                if name in self.paths:
                    yield "restore", name, messages
                    if half(messages, tools=tools):
                        yield "collect", name, messages
        if self.plan.long and self.plan.certificate is not None:
            usual = max((n for n in self.plan.messages if n <= _USUAL), default=min(self.plan.messages))
            for path in self.paths:
                yield "tls", path, usual

    def conversations_and_crowds(self) -> Iterator[CallerKey]:
        """All that is more than a turn."""
        for name in self.own:
            yield "conversation", name, 2 * TURNS
        # A plain call that is not the first of its binding may be one that remembers, and is nothing for threads.
        for name in (*list(self.binding.plain_calls)[:1], *self.paths):
            yield "crowd", name, HISTORY

    def open(self, key: CallerKey, url: str) -> Caller | None:
        """A caller that is answered there. None for one that does no such thing."""
        kind, name, messages = key
        match kind:
            case "conversation":
                return open_conversing(self.binding, name, url)
            case "crowd":
                return open_crowd(self.binding, name, url)
            case "tls" if (certificate := self.plan.certificate) is not None:
                trusting = {**self.binding.options, "ssl_context": certificate.trusting}
                trusted = replace(self.binding, options=trusting)
                return open_caller(trusted, name, "turn", self.server.secure(url), messages)
            case _ if (peer := self.peers.get(name)) is not None:
                return peer.open(url, CANARY_KEY, self.binding.model, self._talk(messages))
            case _:
                return open_caller(self.binding, name, kind, url, messages)

    def is_floored(self, key: CallerKey) -> bool:
        """Whether the floor is to do the same as this caller."""
        kind, name, _ = key
        return has_floor() and kind in _FLOORED and name == (self.paths if kind == "tls" else self.own)[0]

    def floor(self, key: CallerKey, url: str) -> tuple[CallerKey, Caller]:
        """The latest request there, over the bare HTTP client."""
        kind, _, messages = key
        request, answer = self.server.last(url), answer_to(kind)
        caller: Caller
        if kind == "tls" and (certificate := self.plan.certificate) is not None:
            caller = Floor(replace(request, url=self.server.secure(request.url)), answer, certificate.trusting)
        else:
            caller = Floor(request, answer)
        return (kind, FLOOR, messages), crowd_of(caller) if kind == "crowd" else caller

    def check_sent(self, key: CallerKey, url: str) -> None:
        """Raise ProviderError for a peer whose latest request there had not all of the history."""
        _, name, messages = key
        if name in self.peers and not is_sent_whole(self.server.last(url).body, self._talk(messages)):
            raise ProviderError("it does not send the whole history")

    def _talk(self, messages: int) -> Conversation:
        return conversation(messages, tools=self.binding.claims().tools)
