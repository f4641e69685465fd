"""JSON that gives back what was put in, for everything that a message can hold.

A model's text may hold half of a surrogate pair, cut out of an emoji by a careless stream. JSON can write it, as an
escape, while UTF-8 cannot and msgspec will not; the standard library's codec does both, and serves where it is needed.
"""

from __future__ import annotations

import json
import re
from typing import Any, Generic, TypeVar

import msgspec

from ..errors import PayloadError

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """A struct as JSON in UTF-8, on one line. Raises PayloadError for what JSON has no form for."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()
    except RecursionError:
        raise PayloadError("$", "nested too deeply to be written") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise PayloadError("$", str(error)) from error


class Reader(Generic[T]):
    """Reads one type back from what `encode` wrote."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)

    def decode(self, data: bytes | str) -> T:
        """The value. Raises PayloadError, with the path where there is one, for everything else."""
        try:
            return self._decode(data)
        except PayloadError:
            raise
        except RecursionError:
            raise PayloadError("$", "nested too deeply to be read") from None
        except (ValueError, OverflowError) as error:
            path, reason = _located(str(error))
            raise PayloadError(path, reason) from error

    def _decode(self, data: bytes | str) -> T:
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError as error:
            if not _surrogate_in(data):
                raise
            try:
                plain = json.loads(data, parse_constant=_refuse)
            except ValueError:
                raise error from None
        value: T = msgspec.convert(plain, self._kind)
        return value


def _surrogate_in(data: bytes | str) -> bool:
    pattern: re.Pattern[Any] = _SURROGATE if isinstance(data, str) else _SURROGATE_BYTES
    return pattern.search(data) is not None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _located(text: str) -> tuple[str, str]:
    """msgspec's "reason - at `$.path`", apart."""
    match = re.fullmatch(r"(?s)(.*) - at `(.*)`", text)
    return (match[2], match[1]) if match else ("$", text)


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE_BYTES = re.compile(rb"\\u[dD][89a-fA-F]")
