"""What OpenAI's two APIs share: the error for a wrong key, schemas of strict tools, and Copilot's session tokens.

A strict schema closes every object and requires every property; what was optional may be null instead. That is how the
official client rewrites schemas (openai 3.54, `lib/_pydantic.py`), and it loses nothing.

Copilot exchanges a GitHub token for a session token that lives half an hour. What was issued is in `World.resources`
under `copilot`: the token to the second in which it ends. The real answer also names the host to ask
(`endpoints.api`); a service that is emulated cannot know under which address it is reached, and leaves it out.
"""

from __future__ import annotations

from typing import Any

from ..messages import JSON, thaw
from .atoms import same_json
from .base import World
from .preamble import same_schema
from .seeded_random import HEX, seeded_word
from .tables import ErrorKinds, load_errors

WRONG_KEY = (
    "Incorrect API key provided: ***. You can find your API key at https://platform.openai.com/account/api-keys."
)
"""The service shows both ends of the key there; no part of one may stand in an answer of ours."""


def same_parameters(held: JSON, sent: JSON) -> bool:
    """Whether two schemas of parameters are equal, as they are or once the sent one is read as a strict one."""
    if same_schema(held, sent):
        return True
    return sent.get("additionalProperties") is False and same_schema(_relaxed(thaw(held)), _relaxed(thaw(sent)))


def _relaxed(schema: Any) -> Any:
    """A schema without what strictness adds: closed objects, required properties, null as a type."""
    if isinstance(schema, list):
        return [_relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        name: {key: _relaxed(each) for key, each in value.items()} if name == "properties" else _relaxed(value)
        for name, value in schema.items()
        if name not in ("required", "strict") and not (name == "additionalProperties" and value is False)
    }
    return _not_null(plain)


def _not_null(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        left = [kind for kind in kinds if kind != "null"]
        return schema | {"type": left[0] if len(left) == 1 else left}
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        left = [each for each in choices if not same_json(each, {"type": "null"})]
        if len(left) == 1 and len(left) < len(choices) and isinstance(left[0], dict):
            return {name: value for name, value in schema.items() if name != "anyOf"} | left[0]
    return schema


AZURE_KINDS: ErrorKinds = load_errors(__package__)["azure"]
"""The kinds of Azure's own errors by status."""

NO_DEPLOYMENT = "DeploymentNotFound"
"""The code of Azure for a model that is no deployment."""

NO_DEPLOYMENT_MESSAGE = (
    "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, "
    "please wait a moment and try again."
)

AZURE_CODES = frozenset(kind for kind, _ in AZURE_KINDS.values()) | {NO_DEPLOYMENT}
"""The codes of Azure's own errors."""


TOKEN_LIFETIME = 1800
TOKEN_REFRESH_IN = 1500


def is_oversized(status: int, message: str | None) -> bool:
    """Whether an error says that the request alone is over the limit of tokens a minute.

    Recorded: "Request too large for gpt-5-nano ... The input or output tokens must be reduced in order to run".
    """
    return status == 429 and (message or "").startswith("Request too large")


_ISSUED = "copilot"


def issue_copilot_token(world: World, seed: str) -> dict[str, Any]:
    """A fresh session token for a GitHub token, remembered in the world. The same second and seed give the same one."""
    ends = int(world.clock()) + TOKEN_LIFETIME
    token = f"tid={seeded_word(HEX, 32, seed, 'session', ends)};exp={ends};sku=free_limited_copilot;chat=1"
    world.resources.setdefault(_ISSUED, {})[token] = ends
    return {"token": token, "expires_at": ends, "refresh_in": TOKEN_REFRESH_IN}


def is_live_copilot_token(token: str, world: World) -> bool:
    """Whether this session token was issued here and has not ended."""
    return was_issued(token, world) and world.clock() < world.resources[_ISSUED][token]


def was_issued(token: str | None, world: World) -> bool:
    """Whether this session token was issued here at any time."""
    return token in world.resources.get(_ISSUED, {})
