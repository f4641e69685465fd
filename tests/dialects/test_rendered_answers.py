"""What the answers of every dialect do alike: they say what was scripted, the same in each form, at every cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.errors import HarnessError
from turnproof.messages import FinishReason, FunctionCall, Text, Thought

from .answers import IMAGE, LOOK, NO_ANSWERS, AnswerKit, data, reply
from .anthropic_messages import rendering as anthropic_messages
from .antigravity import rendering as antigravity
from .gemini import rendering as gemini
from .gemini_interactions import rendering as gemini_interactions
from .ollama import rendering as ollama
from .openai_chat import rendering as openai_chat
from .openai_responses import rendering as openai_responses
from .zai import rendering as zai

KITS: tuple[AnswerKit, ...] = (
    anthropic_messages.ANSWERS,
    *antigravity.ANSWERS,
    gemini.ANSWERS,
    gemini_interactions.ANSWERS,
    *ollama.ANSWERS,
    *openai_chat.ANSWERS,
    openai_responses.ANSWERS,
    zai.ANSWERS,
)
SCRIPT = reply(*LOOK, finish=FinishReason.TOOL_USE)

each_kit = pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.dialect.name)
each_form = pytest.mark.parametrize(
    ("kit", "form"), [pytest.param(kit, form, id=f"{kit.dialect.name}-{form}") for kit in KITS for form in kit.forms]
)
each_stream = pytest.mark.parametrize(
    ("kit", "form"), [pytest.param(kit, form, id=f"{kit.dialect.name}-{form}") for kit in KITS for form in kit.streams]
)
each_reply = pytest.mark.parametrize(
    ("kit", "name"), [pytest.param(kit, name, id=f"{kit.dialect.name}-{name}") for kit in KITS for name in kit.replies]
)


@each_form
def test_what_was_scripted_is_read_back(kit: AnswerKit, form: str) -> None:
    answer = kit.read(kit.render(SCRIPT, form))
    assert [type(part) for part in answer.parts] == [type(part) for part in LOOK if isinstance(part, kit.shows)]
    assert [part.text for part in answer.parts if isinstance(part, Thought)] == ["Bed 3 needs the sensor."] * (
        Thought in kit.shows
    )
    assert [part.text for part in answer.parts if isinstance(part, Text)] == ["Let me look at bed 3. 🌱"]
    made_up, scripted = (part for part in answer.parts if isinstance(part, FunctionCall))
    assert (made_up.name, made_up.args) == ("read_sensor", {"bed": "3", "unit": "°C", "leaf": "🍃"})
    assert re.fullmatch(kit.made_up_id, made_up.id)
    assert (scripted.id, scripted.name, scripted.args) == ("call_9", "read_sensor", {})
    assert (answer.finish, answer.raw_finish, answer.complete) == (FinishReason.TOOL_USE, kit.raw_finish, True)
    assert (answer.broken_calls, answer.error_kind) == (0, None)


@each_reply
def test_all_forms_say_the_same(kit: AnswerKit, name: str) -> None:
    whole, *streams = (kit.read(kit.render(kit.replies[name], form)) for form in kit.forms)
    assert all(stream == whole for stream in streams)


@each_form
def test_equal_requests_get_equal_bytes_and_another_seed_gets_others(kit: AnswerKit, form: str) -> None:
    first, again, other = (data(kit.render(SCRIPT, form, seed=seed)) for seed in ("s", "s", "t"))
    assert first == again != other


@each_stream
def test_a_stream_is_split_into_its_events_and_incomplete_at_every_cut(kit: AnswerKit, form: str) -> None:
    for script in kit.replies.values():
        rendered = kit.render(script, form)
        split = kit.dialect.split_stream(rendered.headers, data(rendered))
        assert [(each.data, each.kind, each.text) for each in split] == [
            (each.data, each.kind, each.text) for each in rendered.events
        ]
        for cut in range(len(rendered.events) - kit.optional_events):
            before = b"".join(event.data for event in rendered.events[:cut])
            for body in (before, before + rendered.events[cut].data[:-3]):
                assert not kit.dialect.read_response(200, rendered.headers, body).complete


@each_kit
@examples(40)
@given(at=st.integers(0, 4000), garbage=st.binary(max_size=8))
def test_no_cut_and_no_garbage_makes_reading_raise(kit: AnswerKit, at: int, garbage: bytes) -> None:
    for form in kit.forms:
        rendered = kit.render(SCRIPT, form)
        whole = data(rendered)
        for body in (whole[:at] + garbage + whole[at:], whole[:at], garbage):
            assert kit.dialect.read_response(200, rendered.headers, body).status == 200
            assert b"".join(each.data for each in kit.dialect.split_stream(rendered.headers, body)) == body
        needed_events = len(rendered.events) - (kit.optional_events if form in kit.streams else 0)
        end = sum(len(each.data) for each in rendered.events[:needed_events])
        if at < end - len(b"\n\n"):
            assert not kit.dialect.read_response(200, rendered.headers, whole[:at]).complete


@each_kit
def test_a_part_that_the_api_cannot_answer_with_is_our_mistake(kit: AnswerKit) -> None:
    with pytest.raises(HarnessError, match="InlineData"):
        kit.render(reply(IMAGE), kit.whole)


# Ollama's server takes any word for an ending.
@pytest.mark.parametrize("kit", [kit for kit in KITS if kit not in ollama.ANSWERS], ids=lambda kit: kit.dialect.name)
def test_an_ending_that_the_api_has_no_word_for_is_our_mistake(kit: AnswerKit) -> None:
    with pytest.raises(HarnessError, match="give raw_finish"):
        kit.render(reply(Text("a"), finish=FinishReason.UNKNOWN), kit.whole)


@each_form
def test_observing_an_answer_teaches_what_rendering_it_issued(kit: AnswerKit, form: str) -> None:
    at, elsewhere = kit.world(), kit.world()
    rendered = kit.render(SCRIPT, form, at=at)
    kit.dialect.observe(kit.new_call(form), 200, rendered.headers, data(rendered), elsewhere)
    assert elsewhere.issued == at.issued
    if kit.stores:
        assert elsewhere.resources.keys() == at.resources.keys() > kit.world().resources.keys()
    assert (at.issued != kit.world().issued) is kit.issues


@each_kit
@pytest.mark.parametrize("body", [*NO_ANSWERS, b"{", b"[]"])
def test_observing_what_is_no_answer_teaches_nothing(kit: AnswerKit, body: bytes) -> None:
    at, before = kit.world(), kit.world()
    for status in (200, 500):
        kit.dialect.observe(kit.new_call(kit.whole), status, {"content-type": "application/json"}, body, at)
    assert (at.issued, at.resources.keys()) == (before.issued, before.resources.keys())
