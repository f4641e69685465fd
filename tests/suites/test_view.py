"""The readable view over a transcript."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import ReplyPart
from turnproof.judge.view import View, wire_names
from turnproof.judge.view.diff import ABSENT, differences, equal, show, steady, walk
from turnproof.judge.view.wire_bytes import wire_bytes
from turnproof.messages import FinishReason, FunctionCall, ToolSchema
from turnproof.run.transcript import Chunk, LateCallback, Response, WireRequest, WireResponse

from .build import RunBuilder, error, response_with, scripted, spoilt
from .conversations import cancelled, disturbed, overloaded, plain, probed, read, thinking, tools


def test_turns_hold_their_calls_and_calls_both_of_their_sides() -> None:
    first, second = tools().turns
    assert [call.index for call in first.calls] == [0, 1]
    first_call, answered = first.calls
    assert first_call.answer is not None
    assert first_call.sent is not None
    assert [call.name for call in first_call.answer.parts[1:]] == ["read_sensor", "read_sensor"]  # type: ignore[union-attr]
    assert [message.role for message in answered.sent.messages] == ["user", "model", "tool"]  # type: ignore[union-attr]
    assert "".join(first_call.chunks) == "Let me look."
    assert len(first_call.function_calls) == 2
    assert second.calls[0].where == "turn 1 round 0 (call 2)"


def test_repeated_attempts_are_counted_by_round() -> None:
    first, second = overloaded().calls
    assert (first.attempt, second.attempt) == (0, 1)
    assert first.failed is not None
    assert first.response is None
    assert second.where.endswith("attempt 2)")


def test_a_held_answer_is_not_clean_and_shows_what_had_come() -> None:
    call = cancelled().calls[0]
    assert call.last is not None
    assert call.answer is None
    assert not call.clean
    assert call.last.held
    assert call.last.text == "Bed 3 is "
    assert call.last.answer is not None
    assert not call.last.answer.complete


def test_harmless_faults_leave_an_answer_clean() -> None:
    call = disturbed("drip").calls[0]
    assert call.clean
    assert call.fault is None
    assert call.last is not None
    assert call.last.disturbed


def test_late_callbacks_belong_to_the_call_that_made_them() -> None:
    view = spoilt(plain(), Chunk, lambda event: LateCallback(kind="chunk", turn=0, call=0), 3)
    assert [late.kind for late in view.calls[0].late] == ["chunk"]


def test_probes_stand_apart_from_the_conversation() -> None:
    view = probed("fresh")
    assert len(view.calls) == 1
    assert [call.index for call in view.probes["fresh"]] == [0]
    assert len(view.probe_exchanges("fresh")) == 1
    assert list(view.probe_responses("fresh")) == [0]


def test_a_request_that_is_none_has_no_neutral_form() -> None:
    broken = spoilt(plain(), WireRequest, lambda event: replace(event, body="{not json", operation="other"))
    assert broken.calls[0].exchanges[0].call is None
    assert broken.calls[0].sent is None


def test_failures_outside_any_call_are_strays() -> None:
    builder = RunBuilder(scripted(["Yes."])).turn("Moist?").call("Yes.").end()
    builder.add(error("OSError", typed=False))
    assert [failed.error for failed in builder.view().strays] == ["OSError"]


def test_a_view_keeps_turns_the_scenario_does_not_have() -> None:
    view = plain()
    short = View(view.transcript, view.dialect, replace(view.scenario, turns=view.scenario.turns[:1]))
    assert short.turns[1].script is None
    assert short.calls[1].script is None


DOT, COLON, PLAIN = (
    ToolSchema(name, f"The tool {name}", {"type": "object", "properties": {name: {}}}) for name in ("a.b", "a:b", "a_b")
)


def sent(tool: ToolSchema, name: str) -> ToolSchema:
    return ToolSchema(name, tool.description, tool.parameters)


@pytest.mark.parametrize(
    ("held_tools", "on_wire", "names"),
    [
        ([PLAIN], [PLAIN], {"a_b": "a_b"}),
        ([DOT, COLON], [sent(DOT, "a_b"), sent(COLON, "a_b_2")], {"a.b": "a_b", "a:b": "a_b_2"}),
        ([DOT, COLON], [sent(COLON, "a_b"), sent(DOT, "a_b_2")], {"a.b": "a_b_2", "a:b": "a_b"}),
        ([DOT, PLAIN], [sent(DOT, "a_b_1"), PLAIN], {"a_b": "a_b", "a.b": "a_b_1"}),
        ([DOT, PLAIN], [PLAIN], {"a_b": "a_b"}),
        ([ToolSchema("read"), ToolSchema("write")], [ToolSchema("read")], {"read": "read"}),
        ([ToolSchema("größe der beete")], [ToolSchema("gr_e_der_beete")], {"größe der beete": "gr_e_der_beete"}),
        ([ToolSchema("forecast")], [ToolSchema("final_result", "The answer")], {}),
        ([ToolSchema("a.b")], [ToolSchema("a_b-xab1f84b1e7")], {"a.b": "a_b-xab1f84b1e7"}),
        ([ToolSchema("x" * 70)], [ToolSchema("x" * 52 + "-x814f141557")], {"x" * 70: "x" * 52 + "-x814f141557"}),
        ([ToolSchema("read")], [ToolSchema("write")], {}),
        (
            [ToolSchema("🌱"), ToolSchema("garten/größe")],
            [ToolSchema("garten_gr__e-x5c7e2ff294"), ToolSchema("_-x30007b0198")],
            {"garten/größe": "garten_gr__e-x5c7e2ff294", "🌱": "_-x30007b0198"},
        ),
    ],
)
def test_wire_names_are_found_by_what_the_tools_are(
    held_tools: list[ToolSchema], on_wire: list[ToolSchema], names: dict[str, str]
) -> None:
    assert wire_names(held_tools, on_wire) == names


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, None, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], (1, 2), True),
        ([1], [1, None], False),
        ({"a": None}, {}, False),
    ],
)
def test_json_values_are_equal_by_value_and_type(a: object, b: object, same: bool) -> None:
    assert equal(a, b) is same
    assert bool(differences(a, b)) is not same


def test_differences_have_paths_and_both_sides_and_an_end() -> None:
    assert differences({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, names=("held", "sent")) == ["$.a[0].b: held 1, sent 2"]
    assert differences([1], []) == ["$[0]: a 1, b (absent)"]
    assert differences(list(range(20)), [])[-1] == "..."


def test_long_values_are_shortened_in_the_middle() -> None:
    shown = show("x" * 500)
    assert len(shown) < 170
    assert shown.startswith("'x")
    assert shown.endswith("x'")


@pytest.mark.parametrize(
    ("a", "b", "places"),
    [
        ([1, 2, 3], [1, 9, 2, 3], [("$[1]", ABSENT, 9)]),
        ([1, 2, 3], [1, 3], [("$[1]", 2, ABSENT)]),
        ([{"a": 1}, {"b": 2}], [{"b": 3}], [("$[0]", {"a": 1}, ABSENT), ("$[1].b", 2, 3)]),
        (
            [{"part": "thought", "text": "hm"}, {"part": "text", "text": "a"}],
            [{"part": "text", "text": "b"}],
            [("$[0]", {"part": "thought", "text": "hm"}, ABSENT), ("$[1].text", "a", "b")],
        ),
        ({"a": {"b": None}}, {"a": {}}, [("$.a.b", None, ABSENT)]),
        (["a"], ["b", "c"], [("$[0]", "a", "b"), ("$[1]", ABSENT, "c")]),
    ],
)
def test_lists_are_aligned_before_their_items_are_compared(a: object, b: object, places: list[object]) -> None:
    assert list(walk(a, b)) == places


def test_what_differs_from_its_own_repetition_is_noise() -> None:
    found, noise = steady({"id": 1, "n": {"x": 1}}, {"id": 2, "n": {"x": 2}}, {"id": 3, "n": {"x": 2}})
    assert found == [("$.n.x", 1, 2)]
    assert noise == ["$.id"]
    inside, whole = steady({"n": {"x": 1}}, {"n": {"x": 2}}, {"n": 7})
    assert (inside, whole) == ([], ["$.n"])
    assert steady({"no": 1}, {"no": 2}, {"no": 2, "n": 1})[0] == [("$.no", 1, 2)]


def test_ids_go_by_where_the_service_issued_them() -> None:
    view = tools()
    sent, returned = view.calls[0].answer, view.calls[0].response
    assert sent is not None
    assert returned is not None
    ids = [call.id for call in returned.calls]
    assert view.aliases.within({"ids": ids, "other": "toolu"}) == {
        "ids": ["call-0.0.0", "call-0.0.1"],
        "other": "toolu",
    }
    own = spoilt(view, Response, lambda event: response_with(parts=(read(name="call_7"),))(event))
    assert own.aliases.within(["call_7"]) == ["made-0.0.0"]


def test_an_empty_id_has_no_alias() -> None:
    """Gemini's calls may come without one, and an empty text stands in many places."""
    own = spoilt(tools(), Response, lambda event: response_with(parts=(read(name=""),))(event))
    assert own.aliases.within(["", "toolu"]) == ["", "toolu"]


def test_a_seal_is_the_same_in_every_spelling_of_base64() -> None:
    view = thinking()
    sent = view.calls[0].answer
    assert sent is not None
    seal = next(part.provider_data.data["signature"] for part in sent.parts if part.provider_data is not None)
    spellings = {seal, seal.rstrip("="), seal.translate(str.maketrans("+/", "-_"))}
    assert len({str(view.aliases.within(spelling)) for spelling in spellings}) == 1
    assert view.aliases.within(seal) != seal


def test_places_are_the_same_on_both_paths_and_tell_attempts_apart() -> None:
    assert [call.place for call in overloaded().calls] == ["0/0#0", "0/0#1"]
    assert [call.place for call in tools(path="legacy").calls] == ["0/0#0", "0/1#0", "1/0#0"]


def test_the_bytes_of_an_answer_that_was_respelled_are_shown_with_their_line_ends() -> None:
    sent = "data:{}\r\n\r\n"
    view = spoilt(plain(), WireResponse, lambda event: replace(event, sent=sent, spelling="unspaced"))
    exchange = next(iter(view.calls)).last
    assert exchange is not None
    assert exchange.response is not None
    assert wire_bytes(exchange.response) == ("spelling unspaced", "data:{}\\r\\n\n\\r\\n")
    assert wire_bytes(replace(exchange.response, sent=None)) is None


@pytest.mark.parametrize(("finish", "expected"), [(FinishReason.STOP, None), (FinishReason.MAX_TOKENS, "answer")])
def test_a_call_that_a_real_service_did_not_finish_lets_the_turn_end_as_it_likes(
    finish: FinishReason, expected: str | None
) -> None:
    broken = ReplyPart(FunctionCall("toolu_1", "read_sensor", {}), ('{"bed": ',), broken=True)
    view = RunBuilder(scripted(["It is moist."], user="Hi.")).turn("Hi.").call(broken, finish=finish).end().view()
    of_service = spoilt(view, WireResponse, lambda event: replace(event, origin="service"))
    live = View(replace(of_service.transcript, backend="live"), of_service.dialect, of_service.scenario)
    assert view.turns[0].expected == "answer"
    assert live.turns[0].expected == expected
