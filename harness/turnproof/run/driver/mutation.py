"""Finding a mutant by name: an adapter or a session broken on purpose, or a rewriting proxy for the server.

Mutants come with suites (entry point group `turnproof.suites`); this module knows only their shape.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeAlias

from ..._base.suggestions import did_you_mean
from ...dialects.base import Call, HttpRequest, Rendered
from ...errors import CatalogueError
from ...foreign import normalise, normalise_legacy
from ...provider import PATHS, Binding, Endpoint, Path
from ...subject import SessionBinding, Subject
from ...wire.emulator.server_run import WireFilter
from ..project_folder import project_folder

Seam: TypeAlias = Literal["inputs", "outputs", "callbacks", "wire", "session", "agent"]

Failing: TypeAlias = Literal["hangs", "raises"]


def _itself(endpoint: Endpoint) -> Endpoint:
    return endpoint


@dataclass(frozen=True, slots=True)
class Mutant:
    """An adapter, or the session above it, broken on purpose at one seam.

    `caught_by` is the requirement expected to catch it, `scenarios` where it shows (globs), on `paths`. `wrap` breaks
    the adapter object of a path, which it gets in the one calling form, and `endpoint` what that is opened with;
    `filter` makes the rewriting proxy in front of the server; `session` breaks a session's binding. `capability` names
    what an adapter must claim, or the wire API have (`wire:refusals`), for the mutant to break anything, and `dialects`
    the wire APIs where it can, if not all. `fails` says that it hangs or raises oddly on purpose: of any other mutant
    that is a crash, and no detection. `chains` is False for what a mutant changes of earlier turns in a request: a
    legacy path that goes on from what the service has stored (`chain`) sends none of them. `in_evidence` is False for
    what evidence does not have, such as the thread that a callback came from: a run may then equal its control's.

    Outside its scenarios and paths a mutant equals its control: the runner does not apply it there.
    """

    name: str
    seam: Seam
    breaks: str
    caught_by: str
    sources: tuple[str, ...]
    scenarios: tuple[str, ...] = ("*",)
    wrap: Callable[[Any, Path], Any] | None = None
    endpoint: Callable[[Endpoint], Endpoint] = _itself
    filter: Callable[[], WireFilter] | None = None
    session: Callable[[SessionBinding], SessionBinding] | None = None
    capability: tuple[str, ...] = field(default=())
    dialects: tuple[str, ...] = ()
    paths: tuple[Path, ...] = PATHS
    fails: Failing | None = None
    in_evidence: bool = True
    chains: bool = True

    def applies_to(self, scenario: str, path: Path) -> bool:
        """Whether runs of this scenario on this path are broken."""
        return path in self.paths and any(fnmatchcase(scenario, glob) for glob in self.scenarios)


@cache
def all_mutants() -> dict[str, Mutant]:
    """Every mutant of the installed suites, by name."""
    from importlib.metadata import entry_points

    found: dict[str, Mutant] = {}
    for entry in entry_points(group="turnproof.suites"):
        package = import_module(f"{entry.value}.mutants")
        for mutant in package.MUTANTS:
            if mutant.name in found:
                raise CatalogueError(f"two mutants are named {mutant.name!r}")
            found[mutant.name] = mutant
    return found


def mutant_named(name: str) -> Mutant:
    """The mutant of that name, or anybody's as `module:attribute`; several at once as `ONE+OTHER`.

    Raises CatalogueError with a suggestion.
    """
    if "+" in name:
        return _combined(name, [mutant_named(one) for one in name.split("+")])
    if ":" in name:
        return _foreign(name)
    known = all_mutants()
    if name not in known:
        raise CatalogueError(f"no mutant named {name!r}{did_you_mean(name, known)}")
    return known[name]


def _foreign(name: str) -> Mutant:
    module, _, attribute = name.partition(":")
    here = project_folder()
    if here not in sys.path:  # as `python -m` finds modules, and bindings are found
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise CatalogueError(f"no mutant {name!r}: {error}") from error
    if not isinstance(found, Mutant):
        raise CatalogueError(f"{name!r} is a {type(found).__name__}, not a Mutant")
    return found


def _combined(name: str, mutants: Sequence[Mutant]) -> Mutant:
    """All of them at once, the first one nearest to the adapter, and to the server on the wire."""
    if any(one.session is not None for one in mutants):
        raise CatalogueError(f"{name!r}: mutants of sessions and agents cannot be combined")
    wraps = [one.wrap for one in mutants if one.wrap is not None]
    filters = [one.filter for one in mutants if one.filter is not None]

    def wrap(provider: Any, path: Path) -> Any:
        for each in wraps:
            provider = each(provider, path)
        return provider

    def endpoint(original: Endpoint) -> Endpoint:
        for one in reversed(mutants):
            original = one.endpoint(original)
        return original

    return replace(
        mutants[0],
        name=name,
        wrap=wrap if wraps else None,
        endpoint=endpoint,
        filter=(lambda: _Filters([make() for make in filters])) if filters else None,
        scenarios=tuple(dict.fromkeys(glob for one in mutants for glob in one.scenarios)),
        capability=tuple(dict.fromkeys(feature for one in mutants for feature in one.capability)),
        paths=tuple(path for path in mutants[0].paths if all(path in one.paths for one in mutants)),
        in_evidence=any(one.in_evidence for one in mutants),
        chains=all(one.chains for one in mutants),
    )


@dataclass(frozen=True, slots=True)
class _Filters:
    """Rewriting proxies one behind the other; the first stands next to the server."""

    filters: Sequence[WireFilter]

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as the server is to see it."""
        for one in reversed(self.filters):
            request = one.request(request)
        return request

    def response(self, call: Call, rendered: Rendered) -> Rendered:
        """The answer as the adapter is to see it."""
        for one in self.filters:
            rendered = one.response(call, rendered)
        return rendered


def mutated(subject: Subject, name: str | None) -> Subject:
    """The subject as the mutant leaves it: its adapter wrapped, or its session (itself without a mutant)."""
    if name is None:
        return subject
    mutant = mutant_named(name)
    if mutant.session is not None:
        return replace(subject, session=mutant.session(subject.session))
    if mutant.wrap is not None:
        return replace(subject, adapter=_wrapped(subject.adapter, mutant.wrap, mutant.endpoint))
    return subject


def _wrapped(binding: Binding, wrap: Callable[[Any, Path], Any], changed: Callable[[Endpoint], Endpoint]) -> Binding:
    """The binding with the wrapper around what it opens, and another endpoint to open it with."""

    def stateless(endpoint: Endpoint) -> Any:
        assert binding.open_stateless is not None
        provider = binding.open_stateless(changed(endpoint))
        return wrap(normalise(provider, signature=binding.signature, errors=binding.errors), "stateless")

    def legacy(endpoint: Endpoint) -> Any:
        assert binding.open_legacy is not None
        return wrap(normalise_legacy(binding.open_legacy(changed(endpoint)), errors=binding.errors), "legacy")

    # What a wrapper wraps has the one calling form already, and so has the wrapper.
    return replace(
        binding,
        open_stateless=stateless if binding.open_stateless is not None else None,
        open_legacy=legacy if binding.open_legacy is not None else None,
        signature="full",
        errors="raised",
    )
