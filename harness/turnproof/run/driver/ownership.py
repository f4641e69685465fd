"""Which code is the subject's own: by the functions that open it, whose modules its author wrote."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...agents import AgentBinding
from ...subject import Subject
from ..tracebacks import Owners, package_of


def owners_of(subject: Subject) -> Owners:
    """Whose a frame is, for this subject.

    Its own are the packages of its openers, and of a session also the distribution that its binding names: that is the
    framework itself. Of adapters and agents it is the SDK. A session has its adapter's code for its own, too.
    """
    own = [package_of(module) for opener in _openers(subject) for module in _modules(opener)]
    if subject.kind == "session" and subject.session.package:
        own += [subject.session.package.replace("-", mark) for mark in "_."]
    return Owners(own, imported=subject.modules)


def own_modules(subject: Subject) -> list[str]:
    """The modules in which the functions that open it are written."""
    return list(dict.fromkeys(module for opener in _openers(subject) for module in _modules(opener)))


def _openers(subject: Subject) -> Iterator[Any]:
    yield from (subject.adapter.open_stateless, subject.adapter.open_legacy)
    if subject.kind != "adapter":
        yield subject.session.open


def _modules(opener: Any) -> Iterator[str]:
    """The module that a function is written in, behind decorators, methods and `partial`."""
    if opener is None:
        return
    if isinstance(opener, partial):
        bindings = [one for one in opener.args if isinstance(one, AgentBinding)]
        for one in (binding.open for binding in bindings) if bindings else (opener.func,):
            yield from _modules(one)
        return
    module = getattr(inspect.unwrap(opener), "__module__", None)
    if isinstance(module, str):
        yield module
