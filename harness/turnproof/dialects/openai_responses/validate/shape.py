"""The shape of the body: fields that there are not, or no longer; items with what they must hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...base import Refusal, Rule
from ...field_names import logged_if_unlisted
from ...judged_request import Placed
from ...openai_values import image_fault
from .. import fields, rules
from ..surfaces import Surface
from .context import Context, refuse

_CREATE = "https://platform.openai.com/docs/api-reference/responses/create"
_ID = re.compile(r"[a-zA-Z0-9_-]+")


_KNOWN: Mapping[str, frozenset[str]] = {
    "generate": fields.BODY,
    "count_tokens": fields.COUNT_BODY,
    "stored": fields.COMPACT_BODY,
}


def check(context: Context) -> Iterator[Refusal]:
    """Rules about the body's fields and those of its items."""
    yield from _body(context)
    for placed in context.sent:
        yield from _fields(placed)
        yield from _ids(placed)
        if placed.kind == "message":
            yield from _message(placed)
            yield from _blocks(placed, "content")
        elif placed.kind == "function_call_output":
            yield from _output(placed)
            yield from _blocks(placed, "output")


def _body(context: Context) -> Iterator[Refusal]:
    call = context.call
    known = _KNOWN["generate" if call.socket is not None else call.operation]
    known |= fields.ON_SOCKETS if call.socket is not None else frozenset()
    for name in context.body:
        if name in known or context.call.surface is Surface.COPILOT:
            # What Copilot makes of a field that it does not know has not been seen.
            continue
        if name in fields.MOVED:
            message = (
                f"Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to "
                f"'{fields.MOVED[name]}'. Try again with the new parameter. See the API documentation for more "
                f"information: {_CREATE}."
            )
            yield refuse(rules.MOVED_PARAMETER, message, "$", "unsupported_parameter")
        else:
            yield _unknown(name, name)


def _unknown(path: str, name: str) -> Refusal:
    refusal = refuse(rules.UNKNOWN_PARAMETER, f"Unknown parameter: '{path}'.", path, "unknown_parameter")
    return logged_if_unlisted(refusal, name)


def _fields(placed: Placed) -> Iterator[Refusal]:
    for name in fields.REQUIRED.get(placed.kind, ()):
        if name not in placed.item:
            where = f"{placed.path}.{name}"
            message = f"Missing required parameter: '{where}'."
            yield refuse(rules.MISSING_FIELD, message, where, "missing_required_parameter")
    known = fields.ITEMS.get(placed.kind)
    for name in placed.item if known is not None else ():
        if name not in (known or ()):
            yield _unknown(f"{placed.path}.{name}", name)


def _ids(placed: Placed) -> Iterator[Refusal]:
    name, where = placed.item.get("id"), f"{placed.path}.id"
    prefix = fields.PREFIXES.get(placed.kind)
    if isinstance(name, str) and prefix is not None:
        if not _ID.fullmatch(name):
            message = (
                f"Invalid '{where}': '{name}'. Expected an ID that contains letters, numbers, underscores, or dashes, "
                "but this value contained additional characters."
            )
            yield refuse(rules.ID_CHARACTERS, message, where, "invalid_value")
        elif not name.startswith(prefix):
            message = f"Invalid '{where}': '{name}'. Expected an ID that begins with '{prefix}'."
            yield refuse(rules.ID_PREFIX, message, where, "invalid_id_prefix")
    yield from _call_id(placed)


def _call_id(placed: Placed) -> Iterator[Refusal]:
    call_id, where = placed.item.get("call_id"), f"{placed.path}.call_id"
    if not isinstance(call_id, str):
        return
    if not call_id:
        expected = "Expected a string with minimum length 1, but got an empty string instead."
        message = f"Invalid '{where}': empty string. {expected}"
        yield refuse(rules.EMPTY_CALL_ID, message, where, "empty_string")
    elif len(call_id) > fields.MOST_CALL_ID:
        message = (
            f"Invalid '{where}': string too long. Expected a string with maximum length {fields.MOST_CALL_ID}, but "
            f"got a string with length {len(call_id)} instead."
        )
        yield refuse(rules.LONG_CALL_ID, message, where, "string_above_max_length")


def _message(placed: Placed) -> Iterator[Refusal]:
    role = placed.item.get("role")
    if role not in fields.ROLES:
        message = f"Invalid value: '{role}'. Supported values are: {fields.value_list(fields.ROLES)}."
        yield refuse(rules.INVALID_ROLE, message, placed.path, "invalid_value")
    elif role == "assistant":
        yield from _kinds(placed, "content", fields.FROM_ASSISTANT, rules.ASSISTANT_CONTENT)


def _output(placed: Placed) -> Iterator[Refusal]:
    yield from _kinds(placed, "output", fields.IN_OUTPUT, rules.OUTPUT_CONTENT)


def _blocks(placed: Placed, member: str) -> Iterator[Refusal]:
    content = placed.item.get(member)
    for n, block in enumerate(content if isinstance(content, list) else ()):
        path = f"{placed.path}.{member}[{n}]"
        known = fields.BLOCKS.get(str(block.get("type")))
        for name, value in block.items() if known is not None else ():
            if name not in (known or ()) and value is not None:
                where = f"{path}.{name}"
                message = f"Unknown parameter: '{where}'."
                yield logged_if_unlisted(refuse(rules.UNKNOWN_MEMBER, message, where, "unknown_parameter"), name)
        if (
            block.get("type") == "input_image"
            and (fault := image_fault(block.get("image_url"), names_types=True)) is not None
        ):
            where = f"{path}.image_url"
            yield refuse(rules.IMAGE_DATA, f"Invalid '{where}'. {fault}", where, "invalid_value")


def _kinds(placed: Placed, member: str, supported: tuple[str, ...], rule: Rule) -> Iterator[Refusal]:
    content = placed.item.get(member)
    for n, block in enumerate(content if isinstance(content, list) else ()):
        if block.get("type") not in supported:
            where = f"{placed.path}.{member}[{n}]"
            message = f"Invalid value: '{block.get('type')}'. Supported values are: {fields.value_list(supported)}."
            yield refuse(rule, message, where, "invalid_value")
