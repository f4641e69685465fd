"""Results of tools as texts, for libraries whose messages have one text for a result."""

from __future__ import annotations

import json
from typing import Any

from turnproof.messages import thaw
from turnproof.subject import ToolOutput


def result_text(value: Any) -> str:
    """A text as it is, and any other value, frozen or not, as JSON."""
    plain = thaw(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def output_text(output: Any) -> tuple[str, bool]:
    """What a session's tool returned, as a text, and whether it says that the tool failed. Attachments are left out."""
    if isinstance(output, ToolOutput):
        return result_text(output.result), output.is_error
    return result_text(output), False
