"""What may differ between a session and a request to Z.ai: thinking and its signatures more freely than with Anthropic,
what was said no more freely. Requests are written out by hand."""

from __future__ import annotations

from turnproof.dialects import anthropic_messages
from turnproof.dialects.zai import DIALECT
from turnproof.messages import Message, ProviderData, Thought

from ..anthropic_messages.asks import Ask
from ..anthropic_messages.builders import assistant, call, text
from ..histories import CALL, OPENING, RESULT
from ..requests import read_call
from .differences import SENSOR, THOUGHT, WIRE_ASKED, answered, case, find_differences, wire
from .refusals import MODEL, PATH, ask, world


def test_another_model_is_only_unlisted() -> None:
    (found,) = find_differences(case("another-model", (OPENING,), [WIRE_ASKED], model="glm-4.6"))
    assert (found.what, found.path, found.violation) == ("unlisted", "$.model", False)


def test_what_anthropic_demands_back_is_not_demanded_here() -> None:
    """The same request without the thinking of a running tool loop, each service asked for a model of its own."""
    found = {}
    for api, path, name in ((anthropic_messages.DIALECT, "/v1/messages", "claude-sonnet-4-5"), (DIALECT, PATH, MODEL)):
        thought = Thought(THOUGHT, provider_data=ProviderData(api.name, name, {"signature": "b3BhcXVl"}))
        history = (OPENING, Message.model(thought, CALL), Message.tool(RESULT))
        body = ask(*answered(call()), model=name, **wire(thinking={"type": "enabled"})).body
        sent = read_call(api, Ask(body, path), world())
        found[api.name] = [each.what for each in api.differences(history, "Be brief.", [SENSOR], sent, name)]
    assert found == {"anthropic-messages": ["lost-signature"], "zai": []}


def test_every_allowed_difference_has_a_reason_and_a_source() -> None:
    names = [each.name for each in DIALECT.allowed_differences]
    assert len(names) == len(set(names))
    assert {"thinking-left-out", "unsigned-thinking", "mapped-model"} <= set(names)
    assert all(each.reason and "zai.md" in each.source for each in DIALECT.allowed_differences)


def test_a_text_that_was_thought_is_matched_without_what_only_marks_it() -> None:
    calls = [
        read_call(DIALECT, ask(WIRE_ASKED, assistant(*blocks)), world())
        for blocks in ((text("Yes."),), (text("Yes.", cache_control={"type": "ephemeral"}),), (text("No."),))
    ]
    same, marked, other = (DIALECT.match_form(each) for each in calls)
    assert same == marked != other
