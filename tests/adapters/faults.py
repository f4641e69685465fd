"""Answers that do not arrive whole, and everything that an exception could show."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof.errors import ProviderError

from .scripted_server import Exchange


def raised_by(ask: Callable[[], object]) -> ProviderError:
    """The error that a question raises."""
    with pytest.raises(ProviderError) as failure:
        ask()
    return failure.value


def nothing(exchange: Exchange) -> None:
    exchange.connection.shutdown(socket.SHUT_RDWR)


def reset(exchange: Exchange) -> None:
    exchange.reset()


def half_a_head(exchange: Exchange) -> None:
    exchange.write(b"HTTP/1.1 200 OK\r\ncontent-le")
    exchange.reset()


def half_a_body(exchange: Exchange) -> None:
    exchange.head(200, {"content-length": "1000"})
    exchange.write(b'{"id": "msg')
    exchange.connection.shutdown(socket.SHUT_RDWR)


def no_http(exchange: Exchange) -> None:
    exchange.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    exchange.connection.shutdown(socket.SHUT_RDWR)


def no_json(exchange: Exchange) -> None:
    exchange.answer(b"{")


BROKEN = [nothing, reset, half_a_head, half_a_body, no_http, no_json]
"""Scripts whose answer is not a whole one of any API."""


def exceptions_of(module: Any, base: type[Exception]) -> list[type[Exception]]:
    """All exceptions of a module below `base` that are made of a message."""
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, base) and not issubclass(each, httpx2.HTTPStatusError)
    ]


def everything(error: BaseException) -> str:
    """What a log or a report could show of an exception, and of all that hangs on it."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and each not in seen:
            seen.append(each)
            waiting += [each.__cause__, each.__context__]
    return "".join(f"{each!r} {each} {vars(each)!r} {''.join(traceback.format_exception(each))}" for each in seen)
