"""Copilot's session tokens: a GitHub token is exchanged for one that lives half an hour.

What was issued is in `World.resources` under `copilot`: the token to the second in which it ends. The real answer also
names the host to ask (`endpoints.api`); a service that is emulated cannot know under which address it is reached, and
leaves it out.
"""

from __future__ import annotations

from typing import Any

from .base import World
from .seeded_random import drawn

LIFETIME = 1800
REFRESH_IN = 1500
_HEX = "0123456789abcdef"
_ISSUED = "copilot"


def exchange(world: World, seed: str) -> dict[str, Any]:
    """A fresh session token, remembered in the world. The same second and seed give the same one."""
    ends = int(world.clock()) + LIFETIME
    token = f"tid={drawn(_HEX, 32, seed, 'session', ends)};exp={ends};sku=free_limited_copilot;chat=1"
    world.resources.setdefault(_ISSUED, {})[token] = ends
    return {"token": token, "expires_at": ends, "refresh_in": REFRESH_IN}


def is_alive(token: str, world: World) -> bool:
    """Whether this session token was issued here and has not ended."""
    ends = world.resources.get(_ISSUED, {}).get(token)
    return ends is not None and world.clock() < ends
