"""Every mutant of the suites as a subject of its own: `tests.explore.broken:text_after_a_call_lost`.

Here they are broken in every scenario, not only in those that they name: whoever looks for them has to find one.
"""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver.mutation import mutant_named
from turnproof.run.driver.mutation import mutated as broken
from turnproof.subject import SessionBinding

ADAPTER = "anthropic"


def __getattr__(name: str) -> Binding | SessionBinding:
    """The mutant of that name, its hyphens written as underscores."""
    if name.startswith("__"):
        raise AttributeError(name)
    mutant = mutant_named(name.replace("_", "-"))
    subject = broken(resolve_subject(ADAPTER), mutant.name)
    if mutant.session is not None:
        return replace(subject.session, name=mutant.name, adapter=ADAPTER)
    return replace(subject.adapter, name=mutant.name)
