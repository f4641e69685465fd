"""Tool names and call ids that the API takes, and the name under which a scripted call is spoken."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...messages import ToolSchema
from ..naming import most_similar

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def spoken_name(name: str, tools: Sequence[ToolSchema]) -> str:
    """A scripted name as the model would say it. A legal name is said as it is, also when no tool has it.

    So is an illegal one that was offered all the same: whether it may be is for `validate`. Any other was rewritten,
    and the offered tool that looks most like it is meant. (Where two tools could be meant, `naming.speak`, which knows
    the declared tools, has settled it before.)
    """
    offered = [tool.name for tool in tools]
    if LEGAL_NAME.fullmatch(name) or name in offered:
        return name
    return most_similar(name, offered) or _ILLEGAL.sub("_", name) or "_"
