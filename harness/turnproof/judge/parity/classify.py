"""What a difference is like: the questions by which it gets its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...dialects.base import Call
from ...messages import FunctionCall, Text, Thought, to_builtins
from .aspect_readings import Reading
from .difference_case import SYSTEM, Case
from .plain_forms import spoken_content

# What `view.aliases` calls ids that an adapter made up, and those that stood on the wire.
_MADE_UP_ID = re.compile(r"made-\d+\.\d+\.\d+")
_CALL = re.compile(r"call-\d+\.\d+\.\d+")
_ID_FIELDS = ("id", "call_id", "tool_use_id", "tool_call_id")
_SEAL = re.compile(r"\.(provider_data|signature|thoughtSignature|thought_signature|encrypted_content)\b")
_SEALS = {"thoughtSignature", "thought_signature", "provider_data"}
_THOUGHTS = ("thought", "thinking", "redacted_thinking")
_TOOLS = re.compile(r"\$\.request\.(body\.)?tool")
_QUIET_HEADER = re.compile(r"\$\.request\.headers\.(accept|content-type|user-agent|x-stainless-.*)$")
_KINDS = {Text: "text", Thought: "thinking", FunctionCall: "call"}
_BODY = "$.request.body."
_ALPHABET = str.maketrans("-_", "+/")


# -- any aspect


def anything(case: Case) -> bool:
    """Covers whatever is left."""
    return True


def below_path(pattern: str) -> Callable[[Case], bool]:
    """Covers the places whose path begins like this."""
    found = re.compile(pattern)
    return lambda case: found.match(case.path) is not None


def is_kept_by_the_service(case: Case) -> bool:
    """Only one side has its answers stored, or names one that a connection holds: what it then need not send, and what
    it asks the store for.

    Of the body that is the conversation, the tools, and what names or orders the storing; a setting is not excused.
    """
    if case.aspect == "requests":
        return case.lacking and case.path == "$.stored"
    calls = [_call(side) for side in (case.one, case.other)]
    return case.same_request and len({_is_kept(call) for call in calls if call}) == 2 and _is_storable(case)


def _is_kept(call: Call) -> bool:
    """Whether the service stores the answer, or the connection held what the request names."""
    return call.kept_answer or (call.connection_holds and call.resource is not None)


def _is_storable(case: Case) -> bool:
    """Whether this is a place in the body that may differ where the service holds what the other side sends."""
    member = re.match(r"[\w-]*", case.path.removeprefix(_BODY))
    names_it = case.path.startswith(_BODY) and member is not None and member[0] in case.storage_fields
    return names_it or case.in_conversation or _TOOLS.match(case.path) is not None


def is_retried_elsewhere(case: Case) -> bool:
    """What goes with a call that one side alone makes or gets through, when the other tries again within a call."""
    is_retry_count = case.aspect == "outcome" and case.path.startswith("$.retries")
    return case.retried and (is_retry_count or (case.aspect != "outcome" and (is_extra(case) or fails_alone(case))))


def is_extra(case: Case) -> bool:
    """A call or a request that one side has and the other has not."""
    return case.uncalled or case.aspect == "requests" or (case.aspect == "wire" and _is_whole(case))


def fails_alone(case: Case) -> bool:
    """A call that one side alone gets through, or what was called back in it."""
    if case.one is None or case.other is None:
        return _is_whole(case)
    calls = case.one.call, case.other.call
    return case.aspect == "callbacks" and len({call is None or call.failed is None for call in calls}) == 2


def _is_whole(case: Case) -> bool:
    """Whether one side has nothing to read here at all."""
    return case.path == "$" and case.lacking


def has_made_up_id(case: Case) -> bool:
    """The id that the service gave on one side, and on the other one of the adapter's own or none."""
    sides = [side for side in (case.left, case.right) if isinstance(side, str)]
    is_made_up, is_call_id = (any(form.fullmatch(side) for side in sides) for form in (_MADE_UP_ID, _CALL))
    if not case.lacking:
        return is_made_up and is_call_id
    return case.path.rpartition(".")[2] in _ID_FIELDS and (is_made_up or is_call_id)


def is_foreign(case: Case) -> bool:
    """What another service issued, or an instruction between turns, in the copy of a provider with no form for it."""
    if case.one is None or case.other is None or not case.path.startswith("$.kept"):
        return False
    session_messages = case.one.value["session"]
    if session_messages != case.other.value["session"]:
        return False
    if _is_made_up_result(case.alone, session_messages):
        return True
    return any(
        _issued_elsewhere(side, case) or _is_instruction(side, session_messages) for side in (case.left, case.right)
    )


def _issued_elsewhere(value: object, case: Case) -> bool:
    if not isinstance(value, dict):
        return False
    data = value if case.path.endswith(".provider_data") else value.get("provider_data")
    return isinstance(data, dict) and data["dialect"] != case.dialect


def _is_made_up_result(value: object, session_messages: Sequence[dict[str, object]]) -> bool:
    """Whether these are results of calls that the session itself holds unanswered, as only an adopted history does."""
    if not isinstance(value, dict) or value.get("role") != "tool":
        return False
    parts = [part for message in session_messages for part in _parts(message)]
    unanswered = {part.get("id") for part in parts if part.get("part") == "call"}
    unanswered -= {part.get("call_id") for part in parts if part.get("part") == "result"}
    results = _parts(value)
    return bool(results) and all(part.get("call_id") in unanswered for part in results)


def _parts(message: dict[str, object]) -> list[dict[str, object]]:
    parts = message["parts"]
    return parts if isinstance(parts, list) else []


def _is_instruction(value: object, session_messages: Sequence[dict[str, object]]) -> bool:
    if not isinstance(value, dict) or "role" not in value:
        return False
    return any(message["role"] == "system" and message["parts"] == value["parts"] for message in session_messages)


def is_seal(case: Case) -> bool:
    """A signature or encrypted content, or something within it."""
    return _SEAL.search(case.path) is not None


def is_blank_text(case: Case) -> bool:
    """A part of blank text on one side, or a message of nothing else."""
    return _is_blank(case.alone)


def _is_blank(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    parts = value.get("parts", value.get("content"))
    if isinstance(parts, list):
        return all(_is_blank(part) for part in parts)
    return isinstance(value.get("text"), str) and not value["text"].strip() and not _SEALS & value.keys()


def is_thought(case: Case) -> bool:
    """A thought on one side, in neutral form or as a dialect writes it."""
    part = case.alone
    if not isinstance(part, dict):
        return False
    return part.get("part") in _THOUGHTS or part.get("type") in _THOUGHTS or part.get("thought") is True


def is_split(case: Case) -> bool:
    """More messages or parts on one side, which say the same when they are joined."""
    element = case.lacking and case.path.endswith("]")
    return case.same_when_joined and (element or case.path.endswith(".text"))


def is_dropped_with_the_cancel(case: Case) -> bool:
    """A message on one side alone, once a turn was cancelled."""
    return case.cancelled and case.lacking and (case.aspect == "history" or case.in_conversation)


# -- requests


def is_cache_mark(case: Case) -> bool:
    """A prefix breakpoint."""
    return "cache_control" in case.path


def is_managed_cache(case: Case) -> bool:
    """One of the requests names a managed cache; what the cache holds is then not in its body."""
    one, other = (call and call.resource for call in (_call(case.one), _call(case.other)))
    return one != other and case.same_request and _is_storable(case)


def _call(side: Reading | None) -> Call | None:
    """The request as it was sent, in neutral form."""
    return side.exchange.call if side is not None and side.exchange is not None else None


def has_tools_in_another_order(case: Case) -> bool:
    """The tools differ place by place, and are the same to the dialect."""
    one, other = (_tool_names(side) for side in (case.one, case.other))
    return case.same_request and _TOOLS.match(case.path) is not None and one != other


def _tool_names(side: Reading | None) -> list[str]:
    call = _call(side)
    return [tool.name for tool in call.tools] if call is not None else []


def is_spelling(case: Case) -> bool:
    """A field that the other side has under the API's other spelling of its name (`maxTokens`, `max_tokens`)."""
    if not case.lacking:
        return False
    parent, _, name = case.path.rpartition(".")
    twins = (
        path.rpartition(".") for path, left, right in case.other_places if (left, right) == (case.right, case.left)
    )
    return any(other == parent and _without_spelling(twin) == _without_spelling(name) for other, _, twin in twins)


def _without_spelling(name: str) -> str:
    return name.replace("_", "").lower()


def is_base64_alphabet(case: Case) -> bool:
    """The same bytes, written in the other of the two alphabets of base64."""
    sides = [side for side in (case.left, case.right) if isinstance(side, str)]
    return len(sides) == 2 and len({side.translate(_ALPHABET).rstrip("=") for side in sides}) == 1


def is_empty_field(case: Case) -> bool:
    """A field of one side that says nothing: null, an empty object, an empty list."""
    return case.path.startswith(_BODY) and case.lacking and case.alone in (None, {}, [])


def lacks_system(case: Case) -> bool:
    """System text on one side alone."""
    return case.lacking and SYSTEM.match(case.path) is not None


def lacks_tools(case: Case) -> bool:
    """Tools, or one of them, on one side alone."""
    return case.lacking and _TOOLS.match(case.path) is not None


def is_error_flag(case: Case) -> bool:
    """What says that a tool failed."""
    return case.path.endswith(".is_error")


def is_quiet_header(case: Case) -> bool:
    """A header that changes nothing about what is asked for."""
    return _QUIET_HEADER.match(case.path) is not None


def is_other_form(case: Case) -> bool:
    """Something of the conversation, which is the same to the dialect."""
    return case.same_request and case.in_conversation


def is_setting(case: Case) -> bool:
    """Something of the body beside conversation and tools."""
    return case.path.startswith(_BODY) and not case.in_conversation and _TOOLS.match(case.path) is None


# -- callbacks and figures


def comes_at_the_end(case: Case) -> bool:
    """The same things called back, but on one side some kind of them behind all the rest, as the model did not."""
    orders = _orders(case)
    if orders is None or set(orders[0]) != set(orders[1]):
        return False
    model = _model_order(case)
    return any(
        _comes_last(kind, order) and not _comes_last(kind, model) for order in orders for kind in _KINDS.values()
    )


def _model_order(case: Case) -> list[str]:
    """The order in which the model produced its parts, as far as callbacks tell of it."""
    call = case.one.call if case.one is not None else None
    answer = call.answer if call is not None else None
    parts = answer.parts if answer is not None else ()
    return [_KINDS[type(part)] for part in parts if type(part) in _KINDS and not _is_blank(to_builtins(part))]


def is_reordered(case: Case) -> bool:
    """The same things called back in another order."""
    orders = _orders(case)
    return orders is not None and set(orders[0]) == set(orders[1])


def _orders(case: Case) -> tuple[list[str], list[str]] | None:
    if not case.path.startswith("$.order") or case.one is None or case.other is None:
        return None
    return case.one.value["order"], case.other.value["order"]


def _comes_last(kind: str, order: list[str]) -> bool:
    """Whether there is something of this kind (a call by its id), and nothing else behind the first of it."""
    kinds = [each if each in ("text", "thinking") else "call" for each in order]
    return kind in kinds and set(kinds[kinds.index(kind) :]) == {kind}


def has_late_usage(case: Case) -> bool:
    """Figures of a stream: when they were called back, or what they were in the end."""
    return case.streamed and (case.aspect == "usage" or case.path.startswith("$.usage"))


# -- histories


def is_kept_by_the_provider(case: Case) -> bool:
    """Only the provider's own copy differs, and says the same: who said what, which calls, which results."""
    if case.one is None or case.other is None or not case.path.startswith("$.kept"):
        return False
    one, other = case.one.value, case.other.value
    return bool(
        one["session"] == other["session"] and spoken_content(one["kept"] or []) == spoken_content(other["kept"] or [])
    )
