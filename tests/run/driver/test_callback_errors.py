"""An error is a callback's own, whatever a library wraps it into on its way through."""

from __future__ import annotations

import asyncio

import pytest

from turnproof.run.driver.tap import _comes_from

OWN = ValueError("of the callback")


def raised_from_a_task() -> Exception:
    """What comes out of a group of tasks, one of which called the callback, wrapped once more by the library."""

    async def call() -> None:
        try:
            raise OWN
        except ValueError as error:
            raise RuntimeError("a listener failed") from error

    async def emit() -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(call())
        except ExceptionGroup as group:
            raise LookupError("the event could not be emitted") from group

    with pytest.raises(LookupError) as found:
        asyncio.run(emit())
    return found.value


def test_an_error_that_comes_from_a_callback_is_found_within_groups() -> None:
    error = raised_from_a_task()
    assert _comes_from(error, OWN)
    assert not _comes_from(error, ValueError("another one"))


def test_an_error_of_the_library_is_no_callbacks() -> None:
    group = ExceptionGroup("two", [RuntimeError("one"), RuntimeError("two")])
    group.__cause__ = group  # some libraries raise an error from itself
    assert not _comes_from(group, OWN)
    assert not _comes_from(OWN, None)
