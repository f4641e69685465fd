"""An Ollama server as a service of Anthropic's API: https://docs.ollama.com/api/anthropic-compatibility.

What is said of it here is in its source (anthropic/anthropic.go, middleware/anthropic.go): it passes over cache marks,
response schemas, document blocks and signatures, refuses images that are not in the request, and has no token counts.
"""

from __future__ import annotations

from turnproof.messages import FileRef, InlineData

from ..anthropic.service import compatible_service
from . import models, refusals


def reads(part: InlineData | FileRef) -> bool:
    """Images in the request, and nothing else."""
    return isinstance(part, InlineData) and part.mime_type.startswith("image/")


# The SDK asks for a key, and looks for Anthropic's where it gets none. The documentation gives it this one.
_KEY = "ollama"

SERVICE = compatible_service(
    models.NAME, models, refusals, "http://127.0.0.1:11434", ("OLLAMA_API_KEY",), keyless=_KEY, reads=reads
)
