"""What the service keeps: chains, forks, deletion, expiry, what is made in the background, streams taken up again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import PromptUsage, Rendered, World
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.gemini_interactions.store import KEPT_SECONDS, kept_interaction, remember
from turnproof.messages import Text

from ..answers import body_of, reply
from ..requests import Json
from .asks import Ask, ask, on, world
from .builders import MODEL, OPENING, model, user
from .rendering import events, read, read_request

THANKS = user("Thanks")


def answer(at: World, sendable: Ask, words: str = "41 %", seed: str = "s") -> Rendered:
    """The answer to a request about what the model is to say."""
    request = read_request(sendable, at)
    return DIALECT.render(request, reply(Text(words)), PromptUsage(9), at, seed)


def answer_body(at: World, request: Ask, words: str = "41 %", seed: str = "s") -> Json:
    return body_of(answer(at, request, words, seed))


def store_operation(at: World, name: str, method: str = "GET", **query: str) -> Rendered:
    """The answer to an operation on the store."""
    return DIALECT.render_extra(read_request(on(name, method, **query), at), PromptUsage(0), at, "s")


def refusals(at: World, sendable: Ask) -> list[str]:
    request = sendable.request()
    return [each.rule.id.partition("/")[2] for each in DIALECT.validate(request, read_request(sendable, at), at)]


def said_in(at: World, request: Ask) -> list[tuple[str, str]]:
    """The conversation of a request as the service has it."""
    return [(message.role, message.text) for message in read_request(request, at).messages]


def test_a_request_goes_on_from_all_that_led_to_the_interaction_it_names() -> None:
    at = world()
    first = answer_body(at, ask(), seed="1")
    second = answer_body(at, ask(user("And bed 4?"), previous_interaction_id=first["id"]), "12 %", seed="2")
    assert second["previous_interaction_id"] == first["id"]
    request = ask(THANKS, previous_interaction_id=second["id"])
    assert said_in(at, request) == [
        ("user", "How moist is bed 3?"), ("model", "41 %"), ("user", "And bed 4?"), ("model", "12 %"),
        ("user", "Thanks"),
    ]  # fmt: skip
    assert read_request(request, at).managed_messages == 4
    assert refusals(at, request) == []


def test_two_requests_may_go_on_from_one_interaction() -> None:
    at = world()
    first = answer_body(at, ask(), seed="1")["id"]
    fork = answer_body(at, ask(user("And bed 4?"), previous_interaction_id=first), "12 %", seed="2")["id"]
    other = answer_body(at, ask(user("And bed 5?"), previous_interaction_id=first), "7 %", seed="3")["id"]
    for name, bed in ((fork, "And bed 4?"), (other, "And bed 5?")):
        found = said_in(at, ask(THANKS, previous_interaction_id=name))
        assert [text for role, text in found if role == "user"] == ["How moist is bed 3?", bed, "Thanks"]


def test_settings_tools_and_instructions_count_for_one_interaction() -> None:
    at = world()
    first = answer_body(at, ask(system_instruction="Be brief.", tools=[{"type": "function", "name": "f"}]))["id"]
    request = read_request(ask(THANKS, previous_interaction_id=first), at)
    assert (request.system, request.tools) == ((), ())


def test_what_is_not_to_be_stored_cannot_be_named_later() -> None:
    at = world()
    name = answer_body(at, ask(store=False))["id"]
    assert refusals(at, ask(THANKS, previous_interaction_id=name)) == ["unknown-interaction"]
    assert store_operation(at, name).status == 403


def test_a_deleted_interaction_is_gone_and_what_went_on_from_it_stays() -> None:
    at = world()
    first = answer_body(at, ask(), seed="1")["id"]
    second = answer_body(at, ask(THANKS, previous_interaction_id=first), "You're welcome.", seed="2")["id"]
    assert store_operation(at, first, "DELETE").status == 200
    assert store_operation(at, first).status == 403
    assert store_operation(at, first, "DELETE").status == 403
    assert len(said_in(at, ask(THANKS, previous_interaction_id=second))) == 5


def test_an_interaction_is_kept_for_a_day() -> None:
    at = world()
    name = answer_body(at, ask())["id"]
    for seconds, status in ((KEPT_SECONDS - 1, 200), (KEPT_SECONDS, 403)):
        later = replace(at, clock=lambda seconds=seconds: 1_700_000_000.0 + seconds)  # type: ignore[misc]
        assert store_operation(later, name).status == status


def test_what_is_kept_is_listed_and_an_answer_has_the_name_it_is_kept_by() -> None:
    at = world()
    before = DIALECT.stored_ids(at)
    rendered = answer(at, ask())
    names = read(rendered).names
    assert DIALECT.stored_ids(at) == (*before, *names)
    answer(at, ask(store=False), seed="2")
    assert DIALECT.stored_ids(at) == (*before, *names)
    store_operation(at, names[0], "DELETE")
    assert DIALECT.stored_ids(at) == before


def test_time_alone_is_at_fault_for_what_has_expired() -> None:
    at = world()
    name = answer_body(at, ask())["id"]
    later = replace(at, clock=lambda: 1_700_000_000.0 + KEPT_SECONDS)
    sendable = ask(THANKS, previous_interaction_id=name)
    [refusal] = DIALECT.validate(sendable.request(), read_request(sendable, later), later)
    assert refusal.outdated
    read = on(name)
    assert [one.outdated for one in DIALECT.validate(read.request(), read_request(read, later), later)] == [True]
    [never] = DIALECT.validate(on("v1_gone").request(), read_request(on("v1_gone"), at), at)
    assert not never.outdated


def test_a_stored_interaction_is_told_with_the_steps_that_it_was_asked_with() -> None:
    at = world()
    name = answer_body(at, ask())["id"]
    found = body_of(store_operation(at, name))
    assert [step["type"] for step in found["steps"]] == ["user_input", "model_output"]
    assert "input" not in found
    assert body_of(store_operation(at, name, include_input="true"))["input"] == [OPENING]


def test_what_is_made_in_the_background_is_finished_when_it_was_asked_for_twice() -> None:
    at = world()
    first = answer_body(at, ask(background=True))
    assert first["status"] == "in_progress"
    assert "steps" not in first
    name = first["id"]
    assert refusals(at, ask(THANKS, previous_interaction_id=name)) == ["unfinished-previous"]
    found = [body_of(store_operation(at, name)) for _ in range(3)]
    assert [each["status"] for each in found] == ["in_progress", "completed", "completed"]
    assert read(store_operation(at, name)).parts[-1] == Text("41 %")
    assert refusals(at, ask(THANKS, previous_interaction_id=name)) == []


def test_what_is_cancelled_in_the_background_never_ends() -> None:
    at = world()
    name = answer_body(at, ask(background=True))["id"]
    assert body_of(store_operation(at, f"{name}/cancel", "POST"))["status"] == "cancelled"
    assert body_of(store_operation(at, name))["status"] == "cancelled"
    assert refusals(at, on(f"{name}/cancel", "POST")) == ["cancel-of-foreground"]


def test_a_stream_is_taken_up_again_behind_the_event_that_came_last() -> None:
    at = world()
    rendered = answer(at, ask(background=True, stream=True))
    sent = events(rendered)
    assert [each["event_id"] for each in sent] == [f"evt_{n}" for n in range(len(sent))]
    name = sent[0]["interaction"]["id"]
    assert events(store_operation(at, name, stream="true")) == sent
    assert events(store_operation(at, name, stream="true", last_event_id="evt_3")) == sent[4:]
    assert events(store_operation(at, name, stream="true", last_event_id="evt_none")) == sent
    assert store_operation(at, name, stream="true", last_event_id=sent[-1]["event_id"]).events == rendered.events[-1:]


def test_a_stream_that_is_taken_up_behind_an_event_that_it_does_not_have_is_logged() -> None:
    at = world()
    sent = events(answer(at, ask(background=True, stream=True)))
    name, last = sent[0]["interaction"]["id"], sent[-1]["event_id"]
    assert refusals(at, on(name, stream="true", last_event_id=last)) == []
    for unknown in ("evt_none", f"evt_{len(sent)}", "-1"):
        assert refusals(at, on(name, stream="true", last_event_id=unknown)) == ["resume-position"]


def test_going_on_from_what_was_cancelled_is_logged() -> None:
    at = world()
    name = answer_body(at, ask(background=True))["id"]
    store_operation(at, f"{name}/cancel", "POST")
    request = ask(THANKS, previous_interaction_id=name)
    [refusal] = DIALECT.validate(request.request(), read_request(request, at), at)
    assert (refusal.rule.id, refusal.rule.enforced) == ("gemini-interactions/unfinished-previous", False)
    assert refusal.message == f"The interaction {name} has the status 'cancelled'."


def test_a_stream_that_nobody_can_take_up_has_no_ids() -> None:
    assert not any("event_id" in each for each in events(answer(world(), ask(stream=True))))


@pytest.mark.parametrize("stream", [False, True])
def test_a_recorded_answer_is_kept_like_one_of_our_own(stream: bool) -> None:
    ours, recorded = world(), world()
    request = ask(stream=stream)
    rendered = answer(ours, request)
    body = b"".join(each.data for each in rendered.events)
    DIALECT.observe(read_request(request, recorded), 200, rendered.headers, body, recorded)
    name = next(each for each in ours.resources if each not in world().resources)
    later = ask(THANKS, previous_interaction_id=name)
    assert said_in(ours, later) == said_in(recorded, later)
    deleted: Any = read_request(on(name, "DELETE"), recorded)
    DIALECT.observe(deleted, 200, {}, b"{}", recorded)
    assert refusals(recorded, later) == ["unknown-interaction"]


def test_an_observed_state_replaces_the_one_before() -> None:
    at = world()
    name = answer_body(at, ask(background=True))["id"]
    final = {"id": name, "object": "interaction", "status": "completed", "steps": [OPENING, {"type": "model_output"}]}
    DIALECT.observe(read_request(on(name), at), 200, {}, msgspec.json.encode(final), at)
    assert at.resources[name].current["steps"] == [{"type": "model_output"}]


def test_a_long_chain_is_told_whole() -> None:
    at = world()
    name = answer_body(at, ask(), seed="0")["id"]
    for n in range(1, 300):
        name = answer_body(at, ask(user(str(n)), previous_interaction_id=name), seed=str(n))["id"]
    assert len(said_in(at, ask(THANKS, previous_interaction_id=name))) == 601


def test_a_chain_of_ten_thousand_is_read_whole_and_keeps_nothing_twice() -> None:
    at = world()
    name = None
    for number in range(10_000):
        interaction = {"id": f"v1_{number}", "status": "completed", "steps": [model("On.")]}
        previous = kept_interaction(at, name)
        remember(interaction, (user(str(number)),), at, stored=True, model=MODEL, previous=previous)
        name = interaction["id"]
    found = kept_interaction(at, name)
    assert found is not None
    assert len(found.context) == 20_000
    assert found.context[0] == user("0")
