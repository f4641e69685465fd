"""A source by name: an agent with the settings of the project, or a folder with stored sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..._base.settings import AgentSettings, Config
from ...agents import AgentBinding
from ...errors import BindingError, UsageError
from ...run.bindings import agent_names, resolve_agent, resolve_subject
from .agent import AgentSource
from .source import Source, SourceOptions, endpoint_of
from .store import StoreSource


def open_agent(name: str, source_options: SourceOptions, config: Config, *, needs_key: bool = False) -> Source:
    """An agent, by an installed name or `module:attribute`, perhaps with a `=MODEL`. It starts when it is asked.

    Raises BindingError for a name that is none, UsageError for an adapter or a session, which keep no sessions of their
    own, for a setting that cannot be, and with `needs_key` where the environment has no key.
    """
    binding = _agent(name)
    own = name.partition("=")[0]
    agents = config.settings.agents
    settings = agents.get(name) or agents.get(own) or AgentSettings()
    folder = config.file.parent if config.file else Path.cwd()
    options = {**binding.options, **_configured_options(settings, folder), **source_options.options}
    endpoint = endpoint_of(
        name, binding.dialect, binding.model, source_options.base_url or settings.base_url, options, needs_key=needs_key
    )
    return AgentSource(
        binding,
        endpoint,
        home=_make_home(
            name,
            source_options.home or (folder / Path(settings.home).expanduser() if settings.home else default_home(own)),
        ),
        cwd=str(source_options.cwd),
        system=settings.system if source_options.system is None else source_options.system,
        session=settings.session or None,
        continue_last=settings.continue_last,
    )


def open_store(folder: Path, options: SourceOptions, *, needs_key: bool = False) -> Source:
    """The sessions in a folder of `FileStore`.

    Raises UsageError where there is none, and with `needs_key`, which says that one of them is to be gone on with,
    where there is no adapter for that, or no key.
    """
    if not folder.is_dir():
        where = "" if folder.is_absolute() else f" in {Path.cwd()}"
        raise UsageError(f"--store: there is no folder {folder}{where}")
    source = StoreSource(folder, options, needs_key=needs_key)
    if needs_key:
        source.check_adapter()
    return source


def default_home(name: str) -> Path:
    """A folder of an agent's own, below those of the user's data."""
    data = os.environ.get("XDG_DATA_HOME") or ""
    # A relative path there is to be ignored, says the XDG Base Directory Specification 0.8.
    root = Path(data) if Path(data).is_absolute() else Path.home() / ".local" / "share"
    return root / "turnproof" / "agents" / name.replace("/", "-").replace(":", "-")


def _agent(name: str) -> AgentBinding:
    try:
        return resolve_agent(name)
    except BindingError:
        try:
            kind = resolve_subject(name).kind
        except BindingError:
            kind = "agent"
        if kind == "agent":
            # An agent of that name that does not load has a better reason.
            if name not in agent_names() and _is_folder(name):
                raise UsageError(
                    f"{name!r} is a folder and no agent; for the sessions in it use --store {name}"
                ) from None
            raise
    agents = ", ".join(agent_names()) or "none is installed"
    raise UsageError(
        f"{name!r} is {'an adapter' if kind == 'adapter' else 'a session'} and keeps no sessions; agents do "
        f"({agents}; or name yours as module:attribute), and so does a store (--store FOLDER)"
    )


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # too long for a path: a prompt in the agent's place
        return False


def _configured_options(settings: AgentSettings, folder: Path) -> dict[str, Any]:
    options = dict(settings.options)
    if program := settings.program:
        # A bare name is looked for on PATH, by the agent.
        options["program"] = str(folder / Path(program).expanduser()) if os.sep in program else program
    return options


def _make_home(name: str, home: Path) -> str:
    home = home.expanduser().absolute()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the home of {name!r}, {home}, cannot be made: {error.strerror or error}; name another folder with --home"
        ) from error
    return str(home)
