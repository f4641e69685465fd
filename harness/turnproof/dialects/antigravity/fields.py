"""The messages of the gateway and their fields: the envelope, and what differs within it from the Gemini API.

Written as in the Gemini dialect's `fields.py`, read from the clients named in `antigravity.md` and, for schemas, from
their notes of what the gateway refuses. Requests that only manage an account are not judged: nobody was seen refused.
"""

from __future__ import annotations

from ..gemini.fields import FIELDS as _INHERITED
from ..gemini.fields import Fields, table

_OWN = table(
    {
        "GenerateContentEnvelope": """
            project:string model:string request:GenerateContentRequest userAgent:string requestId:string
            requestType:string userPromptId:string enabledCreditTypes:[string]
        """,
        "CountTokensEnvelope": "project:string request:CountTokensRequest",
        "GenerateContentRequest": """
            contents:[Content] systemInstruction:Content tools:[Tool] toolConfig:ToolConfig sessionId:string
            generationConfig:GenerationConfig cachedContent:string safetySettings labels
        """,
    }
)

_REFUSED_IN_SCHEMAS = frozenset({"$ref", "$defs", "default"})
"""Keywords that the Gemini API takes. Those that neither takes (`const`, `$schema`, ...) are in no table at all."""

FIELDS: Fields = {
    **_INHERITED,
    **_OWN,
    "Schema": {name: field for name, field in _INHERITED["Schema"].items() if name not in _REFUSED_IN_SCHEMAS},
}
