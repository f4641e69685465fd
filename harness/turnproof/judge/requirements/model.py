"""What a requirement is: an address, a level, what it needs, and where it comes from.

A requirement says nothing about how it is checked; `registry` holds the checks under the same addresses.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache

import msgspec

from ..._base.suggestions import did_you_mean
from ...dialects.base import TRAITS, Evidence
from ...errors import CatalogueError
from ...provider import PATHS, Capabilities, Path
from ...subject import OPERATIONS, SubjectKind
from ..view.asked import Asked

PROFILES = (
    "core",
    "streaming",
    "tools",
    "cancellation",
    "errors",
    "accounting",
    "cache",
    "thinking",
    "structured",
    "multimodal",
    "gc",
    "recovery",
    "persistence",
    "history",
    "handoff",
    "subagents",
    "stored",
    "telemetry",
    "sessions",
    "parity",
    "security",
)
"""Every profile there may be, in the order in which reports show them."""

_ID = re.compile(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*")
_SOURCE = re.compile(
    r"(defects:[A-Z]{2}\d+|behaviours:[A-P]\d+|wire:[a-z-]+#\d+|stored:SO\d+|design:[a-z-]+|otel:[a-z-]+)"
)
_CACHE_KINDS = ("explicit", "managed", "implicit")


class Level(StrEnum):
    """MUST decides about certification; SHOULD is reported beside it."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing an adapter has to do; or a session or an agent, where `subject` says so: others are certified without.

    Of what is required of sessions, that concerns agents which `agents` says: what holds whoever owns the history.

    `operations` names what has to be done with a session to see it, so that a session that cannot do it does not claim
    the requirement. `capability` names fields of `Capabilities` (`cache:explicit` for that kind of cache), all of which
    an adapter must claim for the requirement to apply. `provider` says what the provider does, `code` what the
    adapter's code likely did. `sources` cite rows: `defects:TP1`, `behaviours:E3`, `stored:SO1`, `wire:anthropic#5`
    (section of a fact sheet), `design:purity`, `otel:gen-ai-spans` (a page of OpenTelemetry's semantic conventions).
    `scenarios` are globs that limit the runs it is judged on, `paths` limits them to one path where the other has no
    such thing.
    `differences` names the intended differences between the paths that may excuse its parity. `rests_on` is the weakest
    evidence among the facts about the wire that its check takes for granted; no MUST rests on inference.

    `live` is False where only the emulator can decide: the real service need not do what the requirement is about, and
    may do it in its own way. `windows` is False for what a session that sends a window of its conversation gives up.

    `effect` is what a user of the application notices where it is violated, in one sentence; a suite may leave it out.

    `counts` names what has to have happened at the subject's own side in a run before the run can show that it holds
    (see `view.asked`). Without it, `asks` has the least: a request that reached the service, or of what is required of
    sessions and agents an answer, since much of that is true of one that asks no model, too.
    """

    id: str
    title: str
    level: Level
    profile: str
    reason: str
    provider: str
    code: str
    sources: tuple[str, ...]
    subject: SubjectKind = "adapter"
    agents: bool = False
    capability: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ("*",)
    paths: tuple[Path, ...] = PATHS
    differences: tuple[str, ...] = ()
    rests_on: Evidence | None = None
    counts: Asked | None = None
    live: bool = True
    windows: bool = True
    effect: str = ""

    def __post_init__(self) -> None:
        self._check_known("profile", self.profile, PROFILES)
        self._check(_ID.fullmatch(self.id) is not None, "an id is `profile/what-holds`, in lower case and hyphens")
        self._check(self.id.startswith(f"{self.profile}/"), f"the id does not start with its profile {self.profile!r}")
        for field in ("title", "reason", "provider", "code"):
            self._check(bool(getattr(self, field).strip()), f"{field} is blank")
        self._check(bool(self.sources), "it cites no source")
        for source in self.sources:
            self._check(
                _SOURCE.fullmatch(source) is not None,
                f"source {source!r} is none of defects:XX1, behaviours:X1, stored:SO1, wire:SHEET#SECTION, "
                "design:WORD, otel:PAGE",
            )
        for name in self.capability:
            if not _is_capability(name):
                self._check_known("capability", name, _CAPABILITIES)
        for name in self.operations:
            self._check_known("operation", name, OPERATIONS, " of a session")
        cites_wire = any(source.startswith("wire:") for source in self.sources)
        self._check(
            cites_wire == (self.rests_on is not None), "`rests_on` goes with a `wire:` source, and only with one"
        )
        inferred = self.rests_on is Evidence.INFERRED and self.level is Level.MUST
        self._check(not inferred, "no MUST rests on an inferred wire rule")
        self._check(bool(self.scenarios and self.paths), "it is limited to no scenario or path at all")
        self._check(self.subject == "session" or not self.agents, "`agents` is for what is required of sessions")

    def _check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise CatalogueError(f"requirement {self.id!r}: {otherwise}")

    def _check_known(self, kind: str, name: str, known: Collection[str], whose: str = "") -> None:
        """Names are compared for the nearest one only where one is unknown: that takes longer than all other checks."""
        if name not in known:
            self._check(False, f"no {kind} {name!r}{whose}{did_you_mean(name, known)}")

    @property
    def asks(self) -> Asked:
        """What has to have happened in a run before it can show that the requirement holds."""
        return self.counts or ("requests" if self.subject == "adapter" else "answers")

    @property
    def remedy(self) -> str:
        """What the provider does and what the code likely did, in one piece."""
        return f"{self.provider} {self.code}"

    def looks_at(self, scenario: str) -> bool:
        """Whether runs of this scenario are judged."""
        if self.scenarios == _EVERY:
            return True
        return _any_of(self.scenarios).match(scenario) is not None

    def lacks(self, claims: Capabilities) -> tuple[str, ...]:
        """The capabilities it needs and `claims` does not have."""
        return tuple(name for name in self.capability if not claims.claims(name))

    def concerns(self, kind: SubjectKind) -> bool:
        """Whether it is said of a subject of this kind where it stands by it: a session is judged by all but what is
        an agent's own, an adapter by what is its own."""
        return concerns(self.subject, kind)


def concerns(required_of: SubjectKind, kind: SubjectKind) -> bool:
    """Whether what is required of one kind of subject is said of another kind, too."""
    return required_of in ("adapter", kind) or (kind == "agent" and required_of == "session")


_EVERY = ("*",)


# Every requirement is asked of every run; the catalogue has some hundred sets of globs at the most.
@lru_cache(maxsize=1024)
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)))


def in_words(lacking: Iterable[str], kind: SubjectKind = "adapter") -> str:
    """Why something is not claimed, by the names of what it lacks: capabilities, or traits of the wire API."""
    names = list(lacking)
    traits = [name.removeprefix("wire:") for name in names if name.startswith("wire:")]
    claims = [name for name in names if not name.startswith("wire:")]
    accepted = [name.removeprefix("refuses-").replace("-", " ") for name in traits if name.startswith("refuses-")]
    absent = [name for name in traits if not name.startswith("refuses-")]
    reasons = [f"the wire API has no {' and no '.join(absent)}"] if absent else []
    reasons += [f"the wire API refuses no {' and no '.join(accepted)}"] if accepted else []
    reasons += [f"the {kind} does not claim {', '.join(claims)}"] if claims else []
    return "; ".join(reasons)


_CAPABILITIES = tuple(name for name in Capabilities.__slots__ if name != "wire")


def _is_capability(name: str) -> bool:
    field, colon, kind = name.partition(":")
    if colon:
        return (field == "cache" and kind in _CACHE_KINDS) or (field == "wire" and kind in TRAITS)
    return field in _CAPABILITIES
