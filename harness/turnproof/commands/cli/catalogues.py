"""`turnproof list`: what there is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args

import typer

from ...provider import PATHS

Kind: TypeAlias = Literal[
    "adapters",
    "sessions",
    "agents",
    "dialects",
    "profiles",
    "requirements",
    "findings",
    "scenarios",
    "mutants",
    "differences",
]


def listing(
    kind: Annotated[Kind | None, typer.Argument(help="What to list. Default: everything.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List adapters, sessions, agents, requirements, ..."""
    kinds: Sequence[Kind] = [kind] if kind else get_args(Kind)
    rows_by_kind: dict[str, list[dict[str, Any]]] = {each: _LISTS[each]() for each in kinds}
    if json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(rows_by_kind), indent=2).decode() + "\n")
    else:
        from .tables import print_rows

        print_rows(rows_by_kind)


def _adapters() -> list[dict[str, Any]]:
    from ...run.bindings import binding_names, resolve_binding

    def row(name: str) -> dict[str, Any]:
        binding = resolve_binding(name)
        paths = [path for path in PATHS if binding.opener(path) is not None]
        return {"name": name, "dialect": binding.dialect, "model": binding.model, "paths": paths}

    return _installed(binding_names(), row)


def _sessions() -> list[dict[str, Any]]:
    from ...run.bindings import resolve_subject, session_names
    from ...subject import OF_KEPT_SESSIONS, OPERATIONS

    def row(name: str) -> dict[str, Any]:
        subject = resolve_subject(name)
        lacks = [operation for operation in OPERATIONS if operation not in subject.operations]
        if "session_id" in lacks:
            lacks = [operation for operation in lacks if operation not in OF_KEPT_SESSIONS]
        adapter, paths = subject.adapter.name, list(subject.paths)
        return {"name": name, "run with": adapter, "paths": paths, "lacks": lacks or ["nothing"]}

    return _installed(session_names(), row)


def _agents() -> list[dict[str, Any]]:
    from ...run.bindings import agent_names, resolve_agent
    from ..session_sources.source import abilities

    def row(name: str) -> dict[str, Any]:
        binding = resolve_agent(name)
        can = abilities(binding.sessions) or ["nothing"]
        return {"name": name, "dialect": binding.dialect, "model": binding.model, "sessions": can}

    return _installed(agent_names(), row)


def _installed(names: Iterable[str], row: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each name; for a broken installation, which must not hide the others, one with the problem."""
    from ...errors import BindingError

    rows: list[dict[str, Any]] = []
    for name in names:
        try:
            rows.append(row(name))
        except BindingError as error:
            rows.append({"name": name, "problem": str(error)})
    return rows


def _dialects() -> list[dict[str, Any]]:
    from ...dialects import dialect, dialect_names, surface_names

    return [
        {
            "name": each.name,
            "surfaces": surface_names(each.name),
            "host": each.default_host,
            "rules": len(each.rules),
            "models": len(each.models),
        }
        for each in map(dialect, dialect_names())
    ]


def _profiles() -> list[dict[str, Any]]:
    from ...judge.requirements import Level, load_suite

    suite = load_suite()
    rows = []
    for name, ids in suite.profiles.profiles.items():
        musts = sum(suite.catalogue[each].level is Level.MUST for each in ids)
        rows.append({"name": name, "date": suite.profiles.name, "must": musts, "should": len(ids) - musts})
    return rows


def _requirements() -> list[dict[str, Any]]:
    from ...judge.requirements import load_suite

    return [
        {"id": each.id, "level": each.level.value, "capability": list(each.capability), "title": each.title}
        for each in load_suite().requirements
    ]


def _findings() -> list[dict[str, Any]]:
    from ...judge.requirements import load_suite

    return [{"code": code, "title": template.title} for code, template in load_suite().registry.templates.items()]


def _scenarios() -> list[dict[str, Any]]:
    from ...judge.requirements import load_suite
    from ..certify.scenarios import suite_scenarios

    return [
        {"name": each.name, "turns": len(each.turns), "features": list(each.features), "title": each.title}
        for each in suite_scenarios(load_suite())
    ]


def _mutants() -> list[dict[str, Any]]:
    from ...run.driver.mutation import all_mutants

    return [
        {"name": each.name, "seam": each.seam, "caught_by": each.caught_by, "breaks": each.breaks.partition("\n")[0]}
        for each in all_mutants().values()
    ]


def _differences() -> list[dict[str, Any]]:
    from ...judge.parity import KINDS

    return [
        {"name": each.name, "aspects": list(each.aspects), "form": each.form, "title": each.title} for each in KINDS
    ]


_LISTS: Mapping[Kind, Callable[[], list[dict[str, Any]]]] = {
    "adapters": _adapters,
    "sessions": _sessions,
    "agents": _agents,
    "dialects": _dialects,
    "profiles": _profiles,
    "requirements": _requirements,
    "findings": _findings,
    "scenarios": _scenarios,
    "mutants": _mutants,
    "differences": _differences,
}
