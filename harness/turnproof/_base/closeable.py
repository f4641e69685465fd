"""Objects that are closed at the end of a `with`, whatever happened in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """A context manager that is itself, and closed behind its block."""

    @abstractmethod
    def close(self) -> None:
        """End it. What it held is given back, also where this raises."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
