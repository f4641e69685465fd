"""A source by name: an agent with the settings of the project, or a folder with stored sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..agents import AgentBinding
from ..bindings import agent_names, resolve_agent, resolve_subject
from ..config import AgentSettings, Config
from ..dialects import dialect
from ..errors import BindingError, UsageError
from ..provider import Endpoint
from .agent import AgentSource
from .source import Source, Wanted
from .store import StoreSource

KEY = "TURNPROOF_API_KEY"
"""The environment variable of a key for whichever service; the service's own come after it."""


def open_agent(name: str, wanted: Wanted, config: Config, *, needs_key: bool = False) -> Source:
    """An agent, by an installed name or `module:attribute`, perhaps with a `=MODEL`. It starts when it is asked.

    Raises BindingError for a name that is none, UsageError for an adapter or a session, which keep no sessions of their
    own, for a setting that cannot be, and with `needs_key` where the environment has no key.
    """
    binding = _agent(name)
    own = name.partition("=")[0]
    agents = config.settings.agents
    settings = agents.get(name) or agents.get(own) or AgentSettings()
    folder = config.file.parent if config.file else Path.cwd()
    options = {**binding.options, **_configured_options(settings, folder), **wanted.options}
    endpoint = endpoint_of(
        name, binding.dialect, binding.model, wanted.base_url or settings.base_url, options, needs_key=needs_key
    )
    return AgentSource(
        binding,
        endpoint,
        home=_made(wanted.home or (folder / Path(settings.home).expanduser() if settings.home else default_home(own))),
        cwd=str(wanted.cwd),
        system=settings.system if wanted.system is None else wanted.system,
        session=settings.session or None,
        continue_last=settings.continue_last,
    )


def open_store(folder: Path, wanted: Wanted, *, needs_key: bool = False) -> Source:
    """The sessions in a folder of `FileStore`. Raises UsageError where there is none, and as `open_agent` does."""
    if not folder.is_dir():
        raise UsageError(f"--store: there is no folder {folder}")
    return StoreSource(folder, wanted, needs_key=needs_key)


def endpoint_of(
    name: str, spoken: str, model: str, base_url: str, options: Mapping[str, Any], *, needs_key: bool
) -> Endpoint:
    """Where the model is: as said, else as the environment says, else the service itself. So with the key."""
    if "api_key" in options:
        raise UsageError(f"{name}: a key is no option: set {KEY} in the environment")
    wire = dialect(spoken)
    service = wire.service
    variables = (KEY, *service.key_variables)
    key = next((os.environ[variable] for variable in variables if os.environ.get(variable)), "")
    if needs_key and not key:
        raise UsageError(f"{name!r} needs a key: set {' or '.join(variables)}")
    url = base_url or os.environ.get(service.base_url_variable) or f"{wire.default_host}{service.base_path}"
    return Endpoint(url if "//" in url else f"https://{url}", key, model, options)


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
            raise
    agents = ", ".join(agent_names()) or "none is installed"
    raise UsageError(
        f"{name!r} is {'an adapter' if kind == 'adapter' else 'a session'} and keeps no sessions of its own; agents do "
        f"({agents}; or name yours as module:attribute), and so does a store (--store FOLDER)"
    )


def _configured_options(settings: AgentSettings, folder: Path) -> dict[str, Any]:
    options = dict(settings.options)
    if program := settings.program:
        # A bare name is looked for on PATH, by the agent.
        options["program"] = str(folder / Path(program).expanduser()) if os.sep in program else program
    return options


def _made(home: Path) -> str:
    home = home.expanduser().absolute()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"home: {home} cannot be made: {error.strerror or error}") from error
    return str(home)
