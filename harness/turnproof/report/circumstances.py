"""What is not the same about two certifications, and may explain why they differ."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from .certification import Certification

_NONE = "-"


class Circumstance(msgspec.Struct, frozen=True):
    """`what` differs, of one `adapter` or (empty) of the whole run; `-` stands for nothing."""

    what: str
    adapter: str
    before: str
    after: str


def circumstances(before: Certification, after: Certification) -> Iterator[Circumstance]:
    """Every circumstance that differs: of the runs first, then of each adapter."""
    yield from _of_runs(before, after)
    for name in dict.fromkeys((*before.adapters, *after.adapters)):
        one, other = before.adapters.get(name), after.adapters.get(name)
        if one is None or other is None:
            yield Circumstance("adapter", name, *("took part" if found else _NONE for found in (one, other)))
            continue
        for what, left, right in (
            ("dialect", one.dialect, other.dialect),
            ("model", one.model, other.model),
            ("proof", one.claim, other.claim),
            ("run with", one.run_with, other.run_with),
            ("program", ", ".join(one.programs), ", ".join(other.programs)),
        ):
            if left != right:
                yield Circumstance(what, name, left or _NONE, right or _NONE)


def _of_runs(before: Certification, after: Certification) -> Iterator[Circumstance]:
    one, other = before.environment, after.environment
    pairs = [
        ("end", *("came to its end" if report.complete else "cut" for report in (before, after))),
        ("turnproof", before.turnproof, after.turnproof),
        ("profiles", before.profiles, after.profiles),
        ("backend", before.backend, after.backend),
        ("depth", before.depth, after.depth),
        ("seed", str(before.seed), str(after.seed)),
        ("Python", one.python, other.python),
        ("platform", one.platform, other.platform),
    ]
    # A package that only one of them names came with an adapter that took part there alone.
    pairs += [(name, one.packages[name], other.packages[name]) for name in one.packages if name in other.packages]
    for what, left, right in pairs:
        if left != right:
            yield Circumstance(what, "", left, right)
