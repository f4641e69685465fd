"""How OpenAI's newer models cache prompts, the same in both of its APIs (openai 3.57, `PromptCacheOptions`).

Since GPT-5.6 a request may mark the ends of its prefixes itself (`prompt_cache_breakpoint` on a block). With the mode
`explicit` those are the only ones: the latest four are written, and the latest 80 are looked for. An entry lives for
thirty minutes, or for twelve hours where the request says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..messages import JSON
from .prefix_cache import Limits, Ttl

MODES: Final = ("implicit", "explicit")
LIVES: Final[Mapping[str, Ttl]] = {"30m": "30m", "12h": "12h"}
_MOST_READ = 80
_MOST_WRITTEN = 4


def marks_itself(options: JSON) -> bool:
    """Whether a request says itself where its prefixes end."""
    return isinstance(options, Mapping) and options.get("mode") == "explicit"


def limits_of(options: JSON) -> Limits:
    """What limits the cache of a request with these options."""
    life = LIVES.get(str(options.get("ttl")), "30m") if isinstance(options, Mapping) else "30m"
    return Limits(_MOST_READ, _MOST_WRITTEN, life) if marks_itself(options) else Limits(life=life)
