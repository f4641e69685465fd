"""What a server says of its models: those that it has, what it has loaded, and how much of a prompt each one sees.

`/api/tags`, `/api/ps` and `/api/show` are of its own API (https://docs.ollama.com/api).
"""

from __future__ import annotations

from typing import Any

import msgspec

from .._decoding import decode_json
from .models import same_model


class Listed(msgspec.Struct, frozen=True):
    """A row of `/api/tags` or `/api/ps`; only the latter has `context_length`, in newer versions."""

    name: str
    context_length: int | None = None


class Listing(msgspec.Struct, frozen=True):
    """The answer of `/api/tags` and `/api/ps`."""

    models: list[Listed] | None = None


class Shown(msgspec.Struct, frozen=True):
    """The answer of `/api/show`: the parameters that the model was made with, as lines, and what its file says."""

    parameters: str | None = None
    model_info: dict[str, Any] | None = None


_listings = msgspec.json.Decoder(Listing)
_shown = msgspec.json.Decoder(Shown)


def names(body: bytes) -> list[str]:
    """The models of a listing. Raises ValueError for what is none."""
    return [each.name for each in decode_json(_listings, body).models or ()]


def window_in_use(body: bytes, model: str) -> int | None:
    """The window that a model is loaded with; None where it is not, or the server does not say."""
    for each in decode_json(_listings, body).models or ():
        if same_model(each.name, model):
            return _size(each.context_length)
    return None


def window_of(body: bytes) -> int:
    """The window that a model is made for, or the smaller one that it is to be loaded with; 0 where neither is said."""
    shown = decode_json(_shown, body)
    info = shown.model_info or {}
    own = _size(info.get(f"{info.get('general.architecture')}.context_length"))
    window = _size(_parameter(shown.parameters or "", "num_ctx"))
    return min((each for each in (own, window) if each is not None), default=0)


def _parameter(parameters: str, name: str) -> int | None:
    for line in parameters.splitlines():
        match line.split():
            case [word, figure] if word == name and figure.isdecimal():
                return int(figure)
    return None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
