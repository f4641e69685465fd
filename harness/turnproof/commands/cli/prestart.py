"""What a command starts before it imports its engine, which takes as long as the import of an SDK."""

from __future__ import annotations

from collections.abc import Iterable


def prepare_workers(subjects: Iterable[str], *, in_process: bool = False) -> None:
    """Let a process import the SDKs of these adapters and sessions from now on, for the workers of this command.

    Nothing is started for a subject that cannot be found: the code that needs it reports that.
    """
    if in_process:
        return
    from ...errors import TurnproofError
    from ...run.bindings import resolve_subject
    from ...run.driver.prefork import prepare

    try:
        modules = [module for name in subjects for module in resolve_subject(name).modules]
    except TurnproofError:
        return
    prepare(dict.fromkeys(modules))
