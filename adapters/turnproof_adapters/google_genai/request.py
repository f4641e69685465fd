"""A request in the SDK's own types, for the SDK's own calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import types

from .._encoded_messages import encode
from .settings import Fields

_SDK_ONLY = {"automaticFunctionCalling": {"disable": True}, "automaticContinuation": False}
"""The SDK calls no tool by itself and makes one request a call: both are the session's affair."""


def sdk_config(fields: Fields) -> types.GenerateContentConfig:
    """The same fields as the SDK's own calls take them."""
    flat = {**fields, **_SDK_ONLY}
    flat |= flat.pop("generationConfig", {})
    # From JSON, so that the SDK reads base64 and camel case as it does in an answer.
    return types.GenerateContentConfig.model_validate_json(encode(flat))


def sdk_contents(contents: Sequence[dict[str, Any]]) -> list[types.Content]:
    """Contents in the API's spelling as the SDK's own calls take them."""
    return [types.Content.model_validate_json(encode(content)) for content in contents]
