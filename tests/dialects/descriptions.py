"""The interface descriptions that the wheel of `llm-comply` carries: what of a document they do not allow."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import pytest

from .requests import Json


@cache
def description(name: str) -> Json:
    """The OpenAPI document of this name. Skips a test where it is not installed."""
    pytest.importorskip("llm_comply")
    text = (resources.files("llm_comply") / "specs" / f"{name}.json").read_text("utf-8")
    found: Json = _with_null(json.loads(text))
    return found


def _with_null(value: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema has a type of its own for null."""
    if isinstance(value, list):
        return [_with_null(one) for one in value]
    if not isinstance(value, dict):
        return value
    rest = {
        name: _with_null(one) for name, one in value.items() if value.get("nullable") is not True or name != "nullable"
    }
    return {"anyOf": [rest, {"type": "null"}]} if value.get("nullable") is True else rest


@cache
def _validator(name: str, schema: str) -> Any:
    jsonschema, referencing = pytest.importorskip("jsonschema"), pytest.importorskip("referencing.jsonschema")
    registry_type = pytest.importorskip("referencing").Registry
    resource = referencing.DRAFT202012.create_resource(description(name))
    registry = registry_type().with_resource("urn:api", resource)
    return jsonschema.Draft202012Validator({"$ref": f"urn:api#/components/schemas/{schema}"}, registry=registry)


def schema_faults(name: str, schema: str, document: Json) -> list[str]:
    """Where a document is not what a description says of this schema."""
    return [f"{error.json_path}: {error.message:.200}" for error in _validator(name, schema).iter_errors(document)]
