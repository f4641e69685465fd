"""What the adapter has to know of a GLM model by its name. State of November 2026.

Windows: the model pages of https://docs.z.ai/guides (GLM-4.5: 128K, 4.6 to 5.1: 200K, since 5.2: 1M). All models since
4.5 think, and take `thinking.type` to switch it off (https://docs.z.ai/guides/capabilities/thinking). The models with a
`v` behind their version are those that see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..anthropic.models import CompatibleModel

DIALECT = "zai"
NAME = "zai"

_GLM = re.compile(r"glm-(?P<major>\d+)(?:\.(?P<minor>\d+))?(?P<sees>v)?(?:-|$)", re.IGNORECASE)
_CURRENT = (99, 0)


@dataclass(frozen=True, slots=True)
class Model(CompatibleModel):
    """The features of a model, derived from its version. Unknown names count as current models."""

    version: tuple[int, int]
    sees: bool = False

    @property
    def context_tokens(self) -> int:
        """The window."""
        if self.version < (4, 6) or (self.sees and self.version < (5, 0)):
            return 131_072
        return 200_000 if self.version < (5, 2) else 1_000_000

    @property
    def thinks(self) -> bool:
        """Thinking arrived with 4.5."""
        return self.version >= (4, 5)

    @property
    def mid_system(self) -> bool:
        """Nothing says that it takes messages of role `system`."""
        return False


def model(name: str | None) -> Model:
    """The model of that name. A Claude name, which the service maps to one of its models, is an unknown one."""
    found = _GLM.match(name) if name else None
    if found is None:
        return Model(_CURRENT)
    return Model((int(found["major"]), int(found["minor"] or 0)), found["sees"] is not None)


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model: they have no aliases, and some write them in capitals."""
    return a.lower() == b.lower()
