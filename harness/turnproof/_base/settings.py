"""Settings of a project: `turnproof.toml`, or `[tool.turnproof]` in `pyproject.toml`.

    [tool.turnproof]
    adapters = ["my_pkg.binding:BINDING"]       # what `turnproof certify` runs when none is named
    depth = "full"

    [[tool.turnproof.known-issue]]
    adapter = "mine"
    requirement = "tools/results-answer-every-call"
    path = "legacy"
    code = "tools/results-answer-every-call/missing"     # one or a list; without it, whatever is found
    reason = "results of a cancelled tool are dropped"
    link = "https://example.org/issues/7"
    expires = 2027-01-31

    [[tool.turnproof.declared-difference]]      # meant, and known to `turnproof compare`
    adapter = "mine"
    name = "stream-usage-late"
    reason = "the old path reads usage after the stream"

    [tool.turnproof.gates]                      # for `turnproof gate`
    phase = 2
    session = "my_pkg.turnproof_binding:SESSION"
    existing_tests = "pytest -q tests/unit"

    [[tool.turnproof.gates.exemption]]
    adapter = "agent-cli"
    criterion = "3/paths-agree"
    reason = "it has never had a legacy path"
    expires = 2027-01-31

    [tool.turnproof.agents.claude_agent]        # for `turnproof sessions`
    program = "tools/claude"
    continue_last = true

    [tool.turnproof.workers]                    # limits of a subject's processes
    memory-mib = 2048
    processes = 20

A key that is not known is refused: a typo must not switch anything off. In `turnproof.toml` the same keys stand at the
top, without `tool.turnproof`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from ..errors import UsageError
from .depth import Depth
from .suggestions import did_you_mean

Backend: TypeAlias = Literal["replay", "emulate", "live"]
GateMode: TypeAlias = Literal["report", "shadow", "enforce"]


class KnownIssue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One accepted violation: of this requirement, by this adapter, on this path, until `expires` (inclusive).

    With `code`, one or several, only findings with these codes are accepted; a violation with any other stays one.
    """

    adapter: str
    requirement: str
    path: str
    reason: str
    expires: date
    link: str = ""
    code: str | tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.adapter, self.requirement, self.path

    @property
    def codes(self) -> tuple[str, ...] | None:
        """The codes of the findings that it accepts; None for all of them."""
        return (self.code,) if isinstance(self.code, str) else self.code

    def overlaps(self, other: KnownIssue) -> bool:
        """Whether both accept the same finding of the same verdict."""
        if self.codes is None or other.codes is None:
            return self.key == other.key
        return self.key == other.key and not set(self.codes).isdisjoint(other.codes)

    def __str__(self) -> str:
        return f"known issue {self.adapter} {self.requirement} [{self.path}]"


class DeclaredDifference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A difference that is meant: between an adapter's two paths, or from the adapter it is compared `against`.

    `name` is that of a kind of difference. Adapters are named as they name themselves, or as the command line does.
    """

    adapter: str
    name: str
    reason: str
    against: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.adapter, self.against, self.name

    def __str__(self) -> str:
        between = f" against {self.against}" if self.against else ""
        return f"declared difference {self.adapter}{between} {self.name}"


class Exemption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An adapter that need not meet one criterion of a gate, until `expires` (inclusive).

    `adapter` is its name, as it names itself or as the command line does, or that of the session on it.
    """

    adapter: str
    criterion: str
    reason: str
    expires: date
    link: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is about."""
        return self.adapter, self.criterion

    def __str__(self) -> str:
        return f"exemption of {self.adapter} from {self.criterion}"


class GateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `turnproof gate` is to look at.

    phase:          the phase whose gate it is, where the command line names none.
    session:        the session: `reference`, an installed name, or `module:attribute`.
    pilot:          the adapter it is run with; empty: the session's own.
    flag:           the environment variable of the migration flag; empty: as the session's binding says.
    flag_off, flag_on: what the variable is set to.
    flip_phase:     the first phase in which the flag is on for whoever has not set it.
    existing_tests: the command of the project's own tests, words as in a shell, though none is used. It is run in the
                    folder of the settings file. Empty: none.
    existing_tests_seconds: how long each run of it may take.
    mode:           what the exit code says: `report` nothing, `shadow` whether something that was open has closed,
                    `enforce` how the gate stands.
    baseline:       the file that has what was open, relative to the folder of the settings file.
    protocol:       the class that says what a provider has to have, as `module:name`. Its legacy methods go in phase 4.
    providers:      classes of providers that no run shows, to be looked at as well.
    session_class:  the session's own class, whose source is looked at in phase 5.
    exemption:      adapters that need not meet a criterion.
    """

    phase: int | None = None
    session: str = "reference"
    pilot: str = ""
    flag: Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    flag_off: str = "0"
    flag_on: str = "1"
    flip_phase: Annotated[int, msgspec.Meta(ge=2, le=4)] = 3
    existing_tests: str = ""
    existing_tests_seconds: Annotated[float, msgspec.Meta(gt=0)] = 900.0
    mode: GateMode = "enforce"
    baseline: str = "gate-baseline.json"
    protocol: str = ""
    providers: tuple[str, ...] = ()
    session_class: str = ""
    exemption: tuple[Exemption, ...] = ()


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How `turnproof sessions` opens an agent; its name is that of the table, as the command line has it.

    home:          where it keeps its sessions and settings, relative to the folder of the settings file. Empty: a
                   folder of its own below the user's data.
    base_url:      where the model is that it asks. Empty: as the environment says, or the service itself.
    program:       the option of that name; a path is relative to the folder of the settings file.
    system:        the system text.
    options:       further options of the agent. There is no place for a key: keys come from the environment.
    session:       the session to go on with, where the command line names none.
    continue_last: the same for the session that was updated last; of both, `session` is tried first.
    """

    home: str = ""
    base_url: str = ""
    program: str = ""
    system: str | None = None
    options: dict[str, Any] = {}
    session: str = ""
    continue_last: bool = False


class WorkerSettings(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """What the worker processes of a subject may take; Linux keeps these limits.

    memory_mib: MiB of data that each process may have; an allocation beyond it fails in that process.
    processes:  how many processes a worker may have running; with more, the run ends.
    """

    memory_mib: Annotated[int, msgspec.Meta(ge=64)] | None = None
    processes: Annotated[int, msgspec.Meta(ge=0)] | None = None


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Dask cluster that makes the runs.

    address: the scheduler's, as `tls://HOST:PORT`, `tcp://127.0.0.1:PORT` or `local:N`. Empty: this machine alone.
    share:   the folder, or the URL for fsspec, that all machines of the cluster share: transcripts go through it.
    wheels:  files of wheels that are sent to the workers, relative to the folder of the settings.
    """

    address: str = ""
    share: str = ""
    wheels: tuple[str, ...] = ()


class Settings(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """What a project may set; a command-line option wins over each. None: not set here.

    `out` and `adapters` given as `module:attribute` are relative to the folder of the file. `docs_url` is where the
    site is that reports link to.
    """

    adapters: tuple[str, ...] = ()
    backend: Backend | None = None
    depth: Depth | None = None
    out: str | None = None
    jobs: Annotated[int, msgspec.Meta(ge=1)] | None = None
    seed: int | None = None
    known_issue: tuple[KnownIssue, ...] = ()
    declared_difference: tuple[DeclaredDifference, ...] = ()
    gates: GateSettings = GateSettings()
    agents: dict[str, AgentSettings] = {}
    workers: WorkerSettings = WorkerSettings()
    cluster: ClusterSettings = ClusterSettings()
    docs_url: Annotated[str, msgspec.Meta(pattern=r"^(https?://\S+)?$")] = ""


_LISTS: Mapping[str, type[msgspec.Struct]] = {"known-issue": KnownIssue, "declared-difference": DeclaredDifference}


class Config(msgspec.Struct, frozen=True):
    """Settings and where they stand: `table` of `file`. Without a file, the defaults, and the file to make."""

    settings: Settings = Settings()
    file: Path | None = None
    table: str = ""

    @property
    def target(self) -> Path:
        """The file that new settings are added to."""
        return self.file or Path("turnproof.toml")


def load_config(folder: Path) -> Config:
    """The settings of the nearest file, from `folder` upwards to the root of the repository.

    Raises UsageError, with file and path to the spot, for a file that cannot be read, an unknown key, a value of the
    wrong type, two entries for the same known issue or declared difference, or two files side by side.
    """
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        own, pyproject = place / "turnproof.toml", place / "pyproject.toml"
        table = _read(pyproject).get("tool", {}).get("turnproof") if pyproject.is_file() else None
        if own.is_file() or own.is_symlink():  # a link that leads nowhere is a mistake, not the absence of settings
            if table is not None:
                raise UsageError(f"{own}: {pyproject.name} next to it has [tool.turnproof] too; keep one of them")
            return Config(_settings(own, _read(own), "$"), own)
        if table is not None:
            return Config(_settings(pyproject, table, "$.tool.turnproof"), pyproject, "tool.turnproof")
        if (place / ".git").exists():
            break
    return Config()


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot read it as TOML: {error}") from error


def _settings(file: Path, table: Any, path: str) -> Settings:
    _refuse_unknown(file, table, Settings, path)
    gates = table.get("gates") if isinstance(table, dict) else None
    _refuse_unknown(file, gates, GateSettings, f"{path}.gates")
    _refuse_unknown_in(file, gates, "exemption", Exemption, f"{path}.gates")
    workers = table.get("workers") if isinstance(table, dict) else None
    _refuse_unknown(file, workers, WorkerSettings, f"{path}.workers")
    cluster = table.get("cluster") if isinstance(table, dict) else None
    _refuse_unknown(file, cluster, ClusterSettings, f"{path}.cluster")
    agents = table.get("agents") if isinstance(table, dict) else None
    for name, agent in agents.items() if isinstance(agents, dict) else ():
        _refuse_unknown(file, agent, AgentSettings, f"{path}.agents.{name}")
    for key, struct in _LISTS.items():
        _refuse_unknown_in(file, table, key, struct, path)
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        reason, _, spot = str(error).partition(" - at `")
        raise UsageError(f"{file}: {path}{spot.removeprefix('$').rstrip('`')}: {reason}") from error
    _refuse_overlaps(file, settings.known_issue, f"{path}.known-issue")
    _refuse_twins(file, settings.declared_difference, f"{path}.declared-difference")
    _refuse_twins(file, settings.gates.exemption, f"{path}.gates.exemption")
    return settings


def _refuse_unknown(file: Path, table: Any, struct: type[msgspec.Struct], path: str) -> None:
    known = [field.encode_name for field in msgspec.structs.fields(struct)]
    for key in table if isinstance(table, dict) else ():
        if key not in known:
            hint = did_you_mean(key, known) or f"; known: {', '.join(known)}"
            raise UsageError(f"{file}: {path}: unknown key {key!r}{hint}")


def _refuse_unknown_in(file: Path, table: Any, key: str, struct: type[msgspec.Struct], path: str) -> None:
    entries = table.get(key) if isinstance(table, dict) else None
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        _refuse_unknown(file, entry, struct, f"{path}.{key}[{number}]")


def _refuse_overlaps(file: Path, entries: Sequence[KnownIssue], path: str) -> None:
    """Several entries may be about one verdict, as long as each names codes of its own."""
    for number, entry in enumerate(entries):
        first = next((at for at, other in enumerate(entries[:number]) if entry.overlaps(other)), None)
        if first is not None:
            raise UsageError(f"{file}: {path}[{number}]: entry {first} has the same {entry}")


def _refuse_twins(file: Path, entries: Sequence[DeclaredDifference | Exemption], path: str) -> None:
    positions: dict[tuple[str, ...], int] = {}
    for number, entry in enumerate(entries):
        first = positions.setdefault(entry.key, number)
        if first != number:
            raise UsageError(f"{file}: {path}[{number}]: entry {first} has the same {entry}")
