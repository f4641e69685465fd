"""Files of recorded traffic, in whatever form they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from ...errors import UsageError
from .exchanges import Traffic
from .har import is_har, read_har
from .otlp import is_trace, read_trace
from .vcr import is_cassette, read_cassette

_FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any, str], Iterator[Traffic]]], ...]] = (
    (is_har, read_har),
    (is_cassette, read_cassette),
    (is_trace, read_trace),
)


def read_traffic(path: Path) -> list[Traffic]:
    """What a file has of recorded traffic: a cassette of vcrpy, a HAR file, or an OTLP trace (one JSON document, or
    one a line as the collector writes them).

    Raises UsageError for a file that is none of them, or not as it should be.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    found: list[Traffic] = []
    for document in _documents(data, path):
        reader = next((read for is_one, read in _FORMS if is_one(document)), None)
        if reader is None:
            raise UsageError(
                f"{path}: is no cassette ('interactions'), HAR file ('log.entries') or OTLP trace ('resourceSpans')"
            )
        found += reader(document, str(path))
    return found


def _documents(data: bytes, path: Path) -> list[Any]:
    try:
        return [msgspec.json.decode(data)]
    except (msgspec.DecodeError, RecursionError):
        pass
    lines = [line for line in data.splitlines() if line.strip()]
    try:
        return [msgspec.json.decode(line) for line in lines]
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return [yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{path}: is neither JSON nor YAML: {str(error).splitlines()[0]}") from error
