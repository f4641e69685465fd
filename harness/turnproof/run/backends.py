"""Which backend answers which adapter: its cassettes, the emulator, or the real API.

An adapter that turnproof has cassettes for is replayed unless something else is asked for; a binding given as
`module:attribute` is emulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ..dialects import dialect as dialect_named
from ..dialects.access import access_to
from ..dialects.contract import Dialect
from ..errors import CassetteError, UsageError
from ..provider import Binding
from ..subject import Subject
from ..wire.cassettes import Cassette, Player, cassette_path, load, overlaid
from ..wire.cassettes.model import how_to_record
from ..wire.cassettes.recording_proxy import ProxyTarget
from ..wire.controls import CONTROLS
from ..wire.emulator import ROUND_LIMIT, CassetteResponder, Responder, ScriptResponder, ServerRun
from ..wire.emulator.live_answers import LiveAnswers
from ..wire.emulator.live_responder import LiveResponder, LiveService
from .driver import Backend, RunSpec


@dataclass(frozen=True, slots=True)
class Choice:
    """The backend of one adapter; `folder` holds its cassettes where it is replayed."""

    backend: Backend
    folder: Path | None = None


@cache
def cassette_roots() -> tuple[Path, ...]:
    """The folders of installed cassette collections (entry point group `turnproof.cassettes`)."""
    modules = [import_module(entry.value) for entry in entry_points(group="turnproof.cassettes")]
    return tuple(Path(next(iter(module.__path__))) for module in modules)


def choose_backend(spec: str, subject: Subject, requested: str | None, cassettes: Path | None = None) -> Choice:
    """The backend for a subject; `cassettes` is a folder of one's own in place of the installed ones.

    Raises CassetteError when a replay is asked for and there are no cassettes, and UsageError for a folder of cassettes
    where something else is to answer.
    """
    if cassettes is not None and requested != "replay":
        raise UsageError(f"--cassettes {cassettes} goes with --backend replay, not {requested}")
    if requested == "replay" and subject.kind != "adapter":
        kind = subject.kind
        article = "an" if kind == "agent" else "a"
        raise CassetteError(f"{subject.name!r} is {article} {kind}, and no cassettes are kept of {kind}s: emulate it")
    found = next((root for root in _roots(cassettes) if _has_folder(root, subject.name)), None)
    if requested == "replay" or (requested is None and found and ":" not in spec and subject.kind == "adapter"):
        if found is None:
            out = f" --out {cassettes}" if cassettes is not None else ""
            raise CassetteError(f"no cassettes for {subject.name!r}: record some with `turnproof record {spec}{out}`")
        return Choice("replay", found)
    return Choice("live" if requested == "live" else "emulate")


def _has_folder(root: Path, name: str) -> bool:
    try:
        return (root / name).is_dir()
    except OSError:  # a name that no file can have, too long for one
        return False


def _roots(cassettes: Path | None) -> tuple[Path, ...]:
    return cassette_roots() if cassettes is None else (cassettes,)


class Played(msgspec.Struct, frozen=True):
    """What was asked for and no cassette had, and the digests of what was played, by adapter and scenario."""

    mismatches: tuple[str, ...] = ()
    played: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


class Backends:
    """The responders of a whole certification."""

    def __init__(self, choices: Mapping[str, Choice]) -> None:
        self._choices = dict(choices)
        self._cassettes: dict[Path, Cassette] = {}
        self._mismatches: list[str] = []
        self._played: dict[tuple[str, str], set[str]] = {}
        self._services: dict[str, LiveService] = {}
        self._answers: dict[tuple[str, str, str, str | None], LiveAnswers] = {}
        self._hosts: dict[str, str] = {}
        self._recorded: dict[str, set[str]] = {}

    @property
    def label(self) -> str:
        """One word for all adapters; `mixed` where they differ."""
        words = {choice.backend for choice in self._choices.values()}
        return words.pop() if len(words) == 1 else "mixed"

    def backend_of(self, spec: str) -> Backend:
        """What answers an adapter; a control, which is no subject of the run, is always emulated."""
        return self._choice(spec).backend

    @property
    def has_service(self) -> bool:
        """Whether a real service answers any adapter."""
        return any(choice.backend == "live" for choice in self._choices.values())

    def answer_alike(self, spec: str, other: str) -> None:
        """Let another subject be answered by what answers this `other` one."""
        self._choices.setdefault(spec, self._choices[other])

    def recorded(self, spec: str) -> str | None:
        """What the cassettes of an adapter were recorded from, in the words of a claim; None without a replay."""
        choice = self._choices[spec]
        if choice.folder is None:
            return None
        words = self._recorded.get(spec) or set()
        return ", ".join(sorted(words)) or None

    def host(self, spec: str) -> str:
        """The host of the real service behind an adapter, with its port where it is no usual one; else empty."""
        return self._hosts.get(spec, "")

    def prepare(self, spec: str, subject: Subject, scenarios: set[str]) -> None:
        """Load an adapter's cassettes, or look whether its service is there.

        Raises CassetteError for a missing, damaged or newer cassette, and UsageError where no service is.
        """
        choice = self._choices[spec]
        if choice.backend == "live":
            binding = subject.adapter
            target = live_target(binding, dialect_named(binding.dialect))
            target.check_presence()
            self._hosts[spec] = target.host
        if choice.folder is None:
            return
        for scenario in sorted(scenarios):
            cassette = self._cassette(choice.folder, subject.name, scenario, None)
            words = "emulated" if cassette.recorded == "emulated" else f"live, {cassette.date}"
            self._recorded.setdefault(spec, set()).add(words)

    # -- what the runner asks for -------------------------------------------------------------------------------

    def backend_for(self, spec: RunSpec) -> Backend:
        """The backend of a run."""
        return self.backend_of(spec.adapter)

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        """The responder of a run."""
        choice = self._choice(spec.adapter)
        if choice.backend == "live":
            return self._live(binding, spec, dialect)
        if choice.folder is None:
            return ScriptResponder(ROUND_LIMIT, spec.scenario.origin)
        cassette = self._cassette(choice.folder, binding.name, spec.scenario.name, spec.key.path)
        return CassetteResponder(Player(cassette, dialect), imitates=_was_imitated(cassette, dialect))

    def _live(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        """The real API. What the stateless path was answered the legacy path is answered too: a model draws its words
        anew, and two conversations of different words cannot be compared."""
        service = self._services.setdefault(spec.adapter, live_service(binding, dialect))
        conversation = _conversation(spec)
        answers = LiveAnswers()
        if spec.key.path == "stateless":
            self._answers[conversation] = answers
            return LiveResponder(service, answers)
        return LiveResponder(service, answers, self._answers.get(conversation))

    def take_over(self, spec: RunSpec, answers: LiveAnswers) -> None:
        """Let these answers be those of a run that is not made again; the other path is given them."""
        self._answers[_conversation(spec)] = answers

    def closed(self, spec: RunSpec) -> str:
        """Why the service behind an adapter is not asked any more; empty while it is."""
        service = self._services.get(spec.adapter)
        return service.closed if service is not None else ""

    @property
    def service_faults(self) -> tuple[str, ...]:
        """The services that were given up, one line each."""
        return tuple(f"{spec}: {one.closed}" for spec, one in sorted(self._services.items()) if one.closed)

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Note what was asked for in vain, and what was played."""
        responder = server_run.responder
        if not isinstance(responder, CassetteResponder):
            return
        self._mismatches += responder.mismatches
        unplayed = {id(item) for item in responder.player.unplayed()}
        cassette = responder.player.cassette
        played = {item.digest for item in cassette.interactions if id(item) not in unplayed}
        self._played.setdefault((cassette.adapter, cassette.scenario), set()).update(played)

    def take_played(self) -> Played:
        """What was played since this was asked last."""
        rows = tuple((*name, tuple(sorted(digests))) for name, digests in self._played.items())
        found = Played(tuple(self._mismatches), rows)
        self._mismatches.clear()
        self._played.clear()
        return found

    def add_played(self, found: Played) -> None:
        """Take in what runs that were made elsewhere have played."""
        self._mismatches += found.mismatches
        for adapter, scenario, digests in found.played:
            self._played.setdefault((adapter, scenario), set()).update(digests)

    @property
    def choices(self) -> Mapping[str, Choice]:
        """What answers each adapter."""
        return self._choices

    @property
    def mismatches(self) -> tuple[str, ...]:
        """Requests that no cassette had an answer for."""
        return tuple(self._mismatches)

    def unplayed(self) -> list[str]:
        """Recorded exchanges that no run asked for, one line each."""
        lines = []
        for path, cassette in sorted(self._cassettes.items()):
            played = self._played.get((cassette.adapter, cassette.scenario))
            if played is None or path.name.endswith(".legacy.yaml"):
                continue
            for item in cassette.interactions:
                if item.digest not in played:
                    where = f"{cassette.adapter} {cassette.scenario}: turn {item.turn} round {item.round}"
                    lines.append(f"{where}: recorded and not played")
        return lines

    def _choice(self, spec: str) -> Choice:
        return Choice("emulate") if spec in CONTROLS.values() else self._choices[spec]

    def _cassette(self, root: Path, adapter: str, scenario: str, path: str | None) -> Cassette:
        cassette = self._load(cassette_path(root, adapter, scenario), adapter, scenario)
        overlay = cassette_path(root, adapter, scenario, overlay="legacy")
        if path == "legacy" and overlay.exists():
            return overlaid(cassette, self._load(overlay, adapter, scenario))
        return cassette

    def _load(self, path: Path, adapter: str, scenario: str) -> Cassette:
        if path not in self._cassettes:
            self._cassettes[path] = load(path, remedy=how_to_record(adapter, scenario))
        return self._cassettes[path]


def _conversation(spec: RunSpec) -> tuple[str, str, str, str | None]:
    """What both paths of a run have in common."""
    return spec.adapter, spec.scenario.name, spec.key.mode, spec.mutant


def live_service(binding: Binding, dialect: Dialect) -> LiveService:
    """The real service of a binding's dialect: the vendor's own, or one that imitates it."""
    own_host = urlsplit(dialect.default_host).netloc
    imitates = live_target(binding, dialect).host != own_host
    return LiveService(lambda: live_target(binding, dialect), binding.model, imitates=imitates)


def _was_imitated(cassette: Cassette, dialect: Dialect) -> bool:
    """Whether what is recorded came from another place than the vendor's own."""
    own_host = urlsplit(dialect.default_host).netloc
    return any(urlsplit(one.request.uri).netloc != own_host for one in cassette.interactions)


def live_target(binding: Binding, dialect: Dialect) -> ProxyTarget:
    """The real API of a binding's dialect. Raises UsageError when the environment has no key for it."""
    access = access_to(dialect, f"the live backend of {binding.name!r}")
    # Requests come with their whole path.
    return ProxyTarget(access.base_url.rstrip("/").removesuffix(dialect.service.base_path), access.key, dialect)
