"""Recorded answers of OpenAI and of Azure, whose service GitHub Models is built on, read by azure's SDK and by us.

Nothing recorded of GitHub Models itself is public. What it answers has this form, and its SDK must lose nothing of it.
"""

from __future__ import annotations

from typing import Any

from recordings.apis import OPENAI_CHAT
from recordings.material import Exchange

from ..openai.recorded_traffic import ChatTraffic
from .kit import KIT, MODEL


class GitHubTraffic(ChatTraffic):
    kit = KIT
    apis = (OPENAI_CHAT,)
    answers = 140
    conversations = 130
    returned_answers = 90

    def model(self, exchange: Exchange) -> str:
        return MODEL

    def options(self, exchange: Exchange) -> dict[str, Any]:
        return {}


TRAFFIC = GitHubTraffic()
