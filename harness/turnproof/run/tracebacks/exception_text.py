"""The text of an exception. It is code of whoever wrote the class, so it may raise and return anything."""

from __future__ import annotations


def text_of(value: object) -> str:
    """`str(value)`, or a phrase in its place that says why it cannot be had. Never raises for what the value does, and
    is always a plain `str`: an instance of a subclass could not be sent to every other process."""
    try:
        return "".join((str(value),))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as wrong:
        return f"(its text cannot be had: {type(wrong).__name__})"
