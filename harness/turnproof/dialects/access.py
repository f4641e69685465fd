"""How a real service is reached: under which address, and with which key."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..errors import UsageError
from .contract import Dialect


@dataclass(frozen=True, slots=True)
class Access:
    """`base_url` has a scheme, and the form that the dialect's official client takes. `key` may be empty, and is in no
    repr.
    """

    base_url: str
    key: str = field(repr=False)


def access_to(
    wire: Dialect, who: str, *, base_url: str = "", key_variables: tuple[str, ...] = (), needs_key: bool = True
) -> Access:
    """The service of a dialect: at `base_url`, else where the environment has it, else at its usual address.

    The key is that of the first variable that is set: of `key_variables`, then of the service's own. Raises UsageError,
    on behalf of `who`, where none is and a key is needed.
    """
    service = wire.service
    variables = (*key_variables, *service.key_variables)
    key = next((os.environ[variable] for variable in variables if os.environ.get(variable)), "")
    if needs_key and not key:
        raise UsageError(f"{who} needs a key: set {' or '.join(variables)} in the environment")
    url = base_url or os.environ.get(service.base_url_variable) or f"{wire.default_host}{service.base_path}"
    return Access(url if "//" in url else f"https://{url}", key)
