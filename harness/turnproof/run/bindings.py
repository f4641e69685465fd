"""Adapters, sessions and agents by name: installed ones by entry point, anybody's as `module:attribute`."""

from __future__ import annotations

import dataclasses
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from .._base.suggestions import did_you_mean
from ..agents import AgentBinding
from ..errors import BindingError
from ..provider import Binding
from ..session.binding import REFERENCE
from ..session.delegated import adapter_of, session_of
from ..subject import SessionBinding, Subject
from .project_folder import project_folder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "turnproof.adapters"
SESSIONS = "turnproof.sessions"
AGENTS = "turnproof.agents"

_ADDRESSES = {
    Binding: "turnproof.provider.Binding",
    SessionBinding: "turnproof.subject.SessionBinding",
    AgentBinding: "turnproof.agents.AgentBinding",
}

_BoundT = TypeVar("_BoundT", Binding, SessionBinding, AgentBinding)


def binding_names() -> list[str]:
    """Names of the installed adapters, sorted."""
    return sorted(_installed(GROUP))


def runnable_adapters() -> tuple[str, ...]:
    """Names of the installed adapters whose packages are installed as well: what is meant where none is named.

    Raises BindingError where there is none.
    """
    bindings = {name: resolve_binding(name) for name in binding_names()}
    found = tuple(name for name, binding in bindings.items() if _is_installed(binding.package))
    if not found:
        packages = ", ".join(sorted({binding.package for binding in bindings.values() if binding.package})) or "none"
        raise BindingError(f"no adapter can be run here; install what they need ({packages}), or name one of your own")
    return found


def session_names() -> list[str]:
    """Names of the installed sessions, sorted."""
    return sorted(_installed(SESSIONS))


def resolve_binding(name: str) -> Binding:
    """The adapter's binding of that name: an installed one, or `module:attribute`. Dots behind either are followed.

    With `=MODEL` behind it the adapter goes by the whole name, and with that model. Modules are found from the current
    folder, as with `python -m`. Raises BindingError with one line that says what is wrong: an unknown name, a module
    that is missing or fails while it is imported, a missing attribute, or a value that is no `Binding`.
    """
    adapter, _, model = name.partition("=")
    found = _of_kind(Binding, adapter, _find(adapter, "adapter", (GROUP,)))
    return _with_model(name, found, model)


def resolve_session(name: str) -> SessionBinding:
    """The session's binding of that name, found like an adapter's. Raises BindingError."""
    return _of_kind(SessionBinding, name, _find(name, "session", (SESSIONS,)))


def agent_names() -> list[str]:
    """Names of the installed agents, sorted. The programs that they need may be missing."""
    return sorted(_installed(AGENTS))


def resolve_agent(name: str) -> AgentBinding:
    """The agent's binding of that name, found like an adapter's, also with a `=MODEL`. Raises BindingError."""
    agent, _, model = name.partition("=")
    return _with_model(name, _of_kind(AgentBinding, agent, _find(agent, "agent", (AGENTS,))), model)


class SubjectTable(dict[str, Subject]):
    """Subjects by name. One that is not there yet is resolved, once; that raises BindingError."""

    def __missing__(self, name: str) -> Subject:
        self[name] = resolve_subject(name)
        return self[name]


def resolve_subject(name: str) -> Subject:
    """What that name can be certified as: an adapter, a session or an agent; `SESSION@ADAPTER` is a session on another
    adapter, `ADAPTER=MODEL` an adapter, or an agent, with another model than its own.

    Raises BindingError.
    """
    session, at, adapter = name.partition("@")
    if at:
        return Subject("session", resolve_session(session), resolve_binding(adapter))
    own, _, model = name.partition("=")
    found = _find(own, "adapter, session or agent", (GROUP, SESSIONS, AGENTS))
    if model and isinstance(found, SessionBinding):
        raise BindingError(f"{own!r} is a session: name its adapter to give it a model, as {own}@ADAPTER={model}")
    match found:
        case SessionBinding():
            return subject_of(found)
        case AgentBinding():
            return subject_of(_with_model(name, found, model))
        case Binding():
            return subject_of(_with_model(name, found, model))


def subject_of(binding: Binding | SessionBinding | AgentBinding) -> Subject:
    """An adapter under the reference session, a session with its adapter, or an agent. Raises BindingError for a
    session whose adapter cannot be found."""
    if isinstance(binding, Binding):
        return Subject("adapter", REFERENCE, binding)
    if isinstance(binding, AgentBinding):
        return Subject("agent", session_of(binding), adapter_of(binding))
    adapter = binding.adapter
    return Subject("session", binding, resolve_binding(adapter) if isinstance(adapter, str) else adapter)


_ModelledT = TypeVar("_ModelledT", Binding, AgentBinding)


def _with_model(name: str, binding: _ModelledT, model: str) -> _ModelledT:
    if "=" in name and not model:
        raise BindingError(f"{name!r}: the model behind the = is missing")
    return dataclasses.replace(binding, name=name, model=model) if model else binding


def _is_installed(package: str | None) -> bool:
    if package is None:
        return True
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _installed(*groups: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # takes longer to import than the rest of this module

    return {entry.name: entry for group in groups for entry in entry_points(group=group)}


def _find(name: str, kind: str, groups: tuple[str, ...]) -> Binding | SessionBinding | AgentBinding:
    if ":" in name:
        return _load(name, name)
    entries = _installed(*groups)
    own, dot, attributes = name.partition(".")
    if own not in entries:
        known = ", ".join(sorted(entries)) or "none is installed"
        hint = did_you_mean(name, entries)
        raise BindingError(f"unknown {kind} {name!r}{hint} (known: {known}; or name yours as module:attribute)")
    return _load(name, f"{entries[own].module}:{entries[own].attr}{dot}{attributes}")


def _of_kind(kind: type[_BoundT], name: str, binding: Binding | SessionBinding | AgentBinding) -> _BoundT:
    if isinstance(binding, kind):
        return binding
    raise BindingError(f"{name!r} is a {type(binding).__name__}, not a {_ADDRESSES[kind]}")


def find_class(name: str) -> type:
    """The class that `module:Class` names; dots behind the colon are followed. Raises BindingError, like the others."""
    found = _attribute(name, name, type)
    if isinstance(found, type):
        return found
    raise BindingError(f"{name!r} is a {type(found).__name__}, not a class")


def _load(name: str, target: str) -> Binding | SessionBinding | AgentBinding:
    value = _attribute(name, target, (Binding, SessionBinding, AgentBinding))
    if not isinstance(value, Binding | SessionBinding | AgentBinding):
        raise BindingError(
            f"{name!r} is a {type(value).__name__}, not a {_ADDRESSES[Binding]}, "
            f"a {_ADDRESSES[SessionBinding]} or a {_ADDRESSES[AgentBinding]}"
        )
    return value


def _attribute(name: str, target: str, expected: type | tuple[type, ...]) -> Any:
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        raise BindingError(f"{name!r} is not module:attribute")
    value: Any = _import(name, module_name)
    for step in attribute.split("."):
        if not hasattr(value, step):
            hint = _suggestion(value, step, expected)
            raise BindingError(f"{name!r}: {module_name} has no attribute {attribute!r}{hint}")
        value = getattr(value, step)
    return value


def _import(name: str, module: str) -> Any:
    here = project_folder()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            raise BindingError(f"{name!r}: there is no module {missing!r} in {here} or on sys.path") from error
        advice = f"pip install {missing}, or whatever its distribution is called"
        raise BindingError(f"{name!r} needs the module {missing!r}, which is not installed: {advice}") from error
    except (Exception, SystemExit) as error:  # whatever somebody's module does on import, it is theirs to mend
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise BindingError(f"{name!r}: importing {module} failed: {reason}") from error


def _suggestion(value: object, step: str, expected: type | tuple[type, ...]) -> str:
    there = vars(value) if hasattr(value, "__dict__") else {}
    fitting = [key for key, item in there.items() if isinstance(item, expected)]
    what = "classes" if expected is type else "bindings"
    return did_you_mean(step, fitting) or (f" ({what} there: {', '.join(fitting)})" if fitting else "")
