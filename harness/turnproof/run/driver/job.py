"""What is to be run, in a form that can cross into a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...scenarios.model import Scenario
from ...subject import Flag
from ..transcript import RunKey

Backend: TypeAlias = Literal["replay", "emulate", "live"]

Watch: TypeAlias = Literal["nothing", "session", "everything"]
"""What of the providers is put down beside the calls: nothing; what a session does with its provider, and what that
holds; and with everything also what else the provider can do, and what else its adapter opens."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run that somebody needs: a subject, a scenario and a key, perhaps broken by a mutant.

    `adapter` is the subject by name, be it an adapter or a session. With `flag` the session is not put on the key's
    path: it chooses by this migration flag, as it stands in the environment of the runner.
    `issued` are signatures that the service has issued before this run (`World.issued`).
    """

    adapter: str
    scenario: Scenario
    key: RunKey
    mutant: str | None = None
    flag: Flag | None = None
    issued: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    watch: Watch = "nothing"


@dataclass(frozen=True, slots=True)
class Job:
    """A run as a worker gets it; the worker finds the subject by its name."""

    adapter: str
    scenario: Scenario
    key: RunKey
    base_url: str
    api_key: str = field(repr=False)
    model: str
    seed: int
    mutant: str | None = None
    flag: Flag | None = None
    watch: Watch = "nothing"
    options: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of the environment that hold the subject's own keys: a worker has no others of services."""
    sandbox_root: str = ""
    """The folder that an agent's home and working directories are made in."""
