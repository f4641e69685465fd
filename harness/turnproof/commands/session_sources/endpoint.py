"""Where the model is that an agent asks, or an adapter behind a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialects import dialect
from ...dialects.access import access_to
from ...errors import UsageError
from ...provider import Endpoint

KEY = "TURNPROOF_API_KEY"
"""The environment variable of a key for whichever service; the service's own come after it."""


def endpoint_of(
    name: str, spoken: str, model: str, base_url: str, options: Mapping[str, Any], *, needs_key: bool
) -> Endpoint:
    """Where the model is: as said, else as the environment says, else the service itself. So with the key.

    Raises UsageError for a key among the options, and with `needs_key` where the environment has none.
    """
    if "api_key" in options:
        raise UsageError(f"{name}: a key is no option: set {KEY} in the environment")
    access = access_to(dialect(spoken), repr(name), base_url=base_url, key_variables=(KEY,), needs_key=needs_key)
    return Endpoint(access.base_url, access.key, model, options)
