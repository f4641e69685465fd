"""What is known of Copilot's chat models by their names. State of November 2026.

They are OpenAI's, under their own names, and others'. Copilot refuses prompts of more than 128,000 tokens, whatever the
model's own window (`openai-chat.md` §6); its model list says where it takes more.
"""

from __future__ import annotations

from dataclasses import replace

from ...openai.models import Model
from ...openai.models import model as of_the_maker

WINDOW = 128_000


def model(name: str | None) -> Model:
    """What is known of the model of that name. None, where none is chosen yet, counts as an unknown name."""
    facts = of_the_maker(name)
    return replace(facts, context_tokens=min(facts.context_tokens, WINDOW) if facts.context_tokens else WINDOW)
