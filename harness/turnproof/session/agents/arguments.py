"""Tools whose arguments are declared once, as a type: it makes the schema, and it reads what the model sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import JSON, ToolSchema
from ...subject import Tool


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a tool is called with. Fields with a default may be left out by the model, or be null."""


A = TypeVar("A", bound=Arguments)


def typed_tool(
    name: str,
    description: str,
    arguments: type[A],
    run: Callable[[A, CancelToken], JSON],
    *,
    choices: Mapping[str, tuple[str, ...]] | None = None,
) -> Tool:
    """A tool that `run` serves. `choices` are the values that a field of strings may have; one without a choice is not
    offered.

    Arguments that do not fit fail the call: the model is told what is wrong, and where.
    """

    def call(raw_arguments: dict[str, Any], token: CancelToken) -> JSON:
        try:
            read = msgspec.convert(raw_arguments, arguments)
        except msgspec.ValidationError as error:
            raise UsageError(f"the arguments of {name} do not fit: {error}") from None
        return run(read, token)

    return Tool(_schema(name, description, arguments, tuple((choices or {}).items())), call)


# Every agent of a team has these tools, mostly with the same choices: one schema serves them all.
@lru_cache(maxsize=256)
def _schema(
    name: str, description: str, arguments: type[Arguments], choices: tuple[tuple[str, tuple[str, ...]], ...]
) -> ToolSchema:
    (whole,) = msgspec.json.schema_components([arguments])[1].values()
    properties = {field: _plain(schema) for field, schema in whole["properties"].items()}
    for field, values in choices:
        holder = properties[field]
        if len(values) > (0 if "items" in holder else 1):
            holder.get("items", holder)["enum"] = list(values)
        else:
            del properties[field]
    parameters = {"type": "object", "properties": properties, "required": whole.get("required", [])}
    return ToolSchema(name, description, parameters)


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without `null` as a further type and without defaults, which not every service takes."""
    schema.pop("default", None)
    (*others,) = schema.pop("anyOf", ())
    for other in others:
        if other != {"type": "null"}:
            schema.update(other)
    return schema
