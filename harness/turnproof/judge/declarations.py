"""Differences that are declared in the settings, beside those that a binding declares itself.

A binding speaks of its two paths. The settings may add to that, give another reason, or speak of one adapter against
another one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from .._base.settings import DeclaredDifference
from ..provider import Difference
from ..subject import Subject
from .parity import check_declared


def between_paths(
    names: Sequence[str], in_binding: Sequence[Difference], settings: Iterable[DeclaredDifference]
) -> tuple[Difference, ...]:
    """What is declared about the two paths of an adapter that goes by these names.

    Where both declare a difference, the reason in the settings counts. Raises CatalogueError for a name that no kind of
    difference has, a blank reason, or a difference that the binding declares twice.
    """
    check_declared(in_binding)
    ours = [Difference(entry.name, entry.reason) for entry in settings if entry.adapter in names and not entry.against]
    check_declared(ours)
    overridden = {difference.name for difference in ours}
    return (*(difference for difference in in_binding if difference.name not in overridden), *ours)


def between_adapters(
    left: Sequence[str], right: Sequence[str], settings: Iterable[DeclaredDifference]
) -> tuple[Difference, ...]:
    """What is declared about one adapter against another, in whichever order they are compared.

    Raises CatalogueError for a name that no kind of difference has, or a blank reason.
    """
    found = [
        Difference(entry.name, entry.reason)
        for entry in settings
        if (entry.adapter in left and entry.against in right) or (entry.adapter in right and entry.against in left)
    ]
    check_declared(found)
    return tuple(found)


def with_settings(spec: str, subject: Subject, settings: Iterable[DeclaredDifference]) -> Subject:
    """The subject, declaring what the settings say of its paths too. Raises CatalogueError as `between_paths` does."""
    declared = between_paths((subject.name, spec), subject.declared, settings)
    if subject.kind != "adapter":
        return dataclasses.replace(subject, session=dataclasses.replace(subject.session, declared=declared))
    return dataclasses.replace(subject, adapter=dataclasses.replace(subject.adapter, declared=declared))


def excused_for(subject: Subject, declared: Iterable[DeclaredDifference]) -> tuple[Difference, ...]:
    """The differences that are meant: the subject's own, and those of an adapter whose provider a session opens."""
    names = {difference.name for difference in subject.declared}
    adapter = subject.adapter
    if subject.kind == "adapter" or not (adapter.open_stateless or adapter.open_legacy):
        return tuple(subject.declared)
    inherited = between_paths((adapter.name,), adapter.declared, declared)
    return (*subject.declared, *(difference for difference in inherited if difference.name not in names))
