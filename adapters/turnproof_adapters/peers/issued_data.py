"""What a model issues with the parts of its answers, such as signatures: kept with the part, and sent back to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnproof.messages import Part, ProviderData, thaw


class IssuedData:
    """What all readers and writers of a library's messages know: the dialect and the model that issue what is signed.

    A part has its issued data as `provider_data`. Another dialect's is never sent.
    """

    def __init__(self, dialect: str, model: str) -> None:
        self._dialect, self._model = dialect, model

    def _issued(self, data: Mapping[str, Any] | None) -> ProviderData | None:
        """The data for a part that is read; None where there is none."""
        return ProviderData(self._dialect, self._model, dict(data)) if data else None

    def _is_own(self, part: Part) -> bool:
        """Whether the part has data that this dialect issued."""
        return part.provider_data is not None and part.provider_data.dialect == self._dialect

    def _own(self, part: Part) -> dict[str, Any]:
        """The data that this dialect issued with the part, as a copy that may be changed; empty for other parts."""
        return thaw(part.provider_data.data) if part.provider_data and self._is_own(part) else {}


def present(**data: Any) -> dict[str, Any]:
    """The data without what is empty."""
    return {name: value for name, value in data.items() if value}
