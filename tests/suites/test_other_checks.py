"""Checks of accounting, caching, thinking, structured output, media, collection, persistence, parity and secrets."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import WireAnswer
from turnproof.judge.finding import Side
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message, Part, ProviderData, Text, Thought, TokenUsage
from turnproof.run.transcript import (
    Chunk,
    HistorySnapshot,
    Loaded,
    Response,
    Thinking,
    TurnEnded,
    UsageUpdate,
    WireRequest,
    WireResponse,
)
from turnproof_suites.checks_thinking import _is_redacted, _whole_thoughts

from .build import Made, body_with, response_with, scripted, spoilt
from .cases import Case, decide, points_to_something, suite
from .conversations import collected, growing, pictures, plain, saved, structured, swapped, thinking


def usage(nth: int = 0, **figures: Any) -> Any:
    """Figures of a response, changed by name: a number, or what to add to the present one."""

    def change(event: Response) -> Response:
        return replace(event, response=replace(event.response, usage=replace(event.response.usage, **figures)))

    return lambda view: spoilt(view, Response, change, nth)


def wire(change: Any, nth: int = 0, every: bool = False) -> Any:
    return lambda view: spoilt(view, WireRequest, body_with(change), nth, every=every)


def summed(view: View) -> View:
    """The second response adds the prompt of the first."""
    first, second = (event.response.usage for event in view.transcript.of(Response))
    prompt = first.prompt_tokens + second.prompt_tokens
    return usage(1, prompt_tokens=prompt, total_tokens=prompt + second.output_tokens)(view)  # type: ignore[no-any-return]


def fallen(view: View) -> View:
    """An update without the prompt's figures comes after one that had them."""
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, UsageUpdate))
    events = view.transcript.events
    late = UsageUpdate(usage=TokenUsage(output_tokens=9, total_tokens=9), turn=0, call=0)
    return View(
        replace(view.transcript, events=(*events[: at + 1], late, *events[at + 1 :])), view.dialect, view.scenario
    )


def rising(view: View) -> View:
    """An update comes before the one that there is."""
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, UsageUpdate))
    events = view.transcript.events
    first = replace(events[at], usage=TokenUsage(prompt_tokens=1, total_tokens=1))
    return View(replace(view.transcript, events=(*events[:at], first, *events[at:])), view.dialect, view.scenario)


def marked(block: Any) -> None:
    block["cache_control"] = {"type": "ephemeral"}


def many_marks(body: Any) -> None:
    for tool in body["tools"]:
        marked(tool)
    for message in body["messages"]:
        marked(message["content"][0])


def unmarked(body: Any) -> None:
    for message in body["messages"]:
        for block in message["content"]:
            block.pop("cache_control", None)


def without(kind: str, message: int) -> Any:
    def change(body: Any) -> None:
        content = body["messages"][message]["content"]
        body["messages"][message]["content"] = [block for block in content if block["type"] != kind]

    return change


def trimmed(body: Any) -> None:
    body["messages"][1]["content"][0]["thinking"] = "I must"


def call_first(body: Any) -> None:
    content = body["messages"][1]["content"]
    content.insert(0, content.pop())


def loading(view: View) -> View:
    """The server had counted one more request by the time of the next turn."""
    later = spoilt(view, WireRequest, lambda event: replace(event, exchange=event.exchange + 1), 1)
    return spoilt(later, WireResponse, lambda event: replace(event, exchange=event.exchange + 1), 1)


def reads(view: View) -> View:
    """The last answers read nothing from the cache."""
    return spoilt(
        view,
        WireResponse,
        lambda event: replace(
            event, body=event.body.replace('"cache_read_input_tokens":4000', '"cache_read_input_tokens":0')
        ),
        every=True,
    )


ACCOUNTING = [
    Case(
        "accounting/prompt-counts-everything",
        growing,
        usage(2, prompt_tokens=5),
        "prompt tokens",
        "wrong-count",
        "/usage/prompt_tokens",
    ),
    Case(
        "accounting/output-is-what-the-wire-says",
        plain,
        usage(output_tokens=1),
        "4 output tokens; got 1",
        "wrong-count",
        "/usage/output_tokens",
    ),
    Case(
        "accounting/total-is-prompt-plus-output",
        plain,
        usage(total_tokens=7),
        "22 total tokens",
        "wrong-sum",
        "/usage/total_tokens",
    ),
    Case(
        "accounting/cache-figures-are-kept",
        growing,
        usage(2, cache_read_tokens=0),
        "2500 as `cache_read_tokens`",
        "wrong-count",
        "/usage",
    ),
    Case(
        "accounting/updates-never-fall",
        lambda: rising(plain()),
        fallen,
        "at least 1 as `prompt_tokens`; got 0",
        "fell",
        "/4/usage",
    ),
    Case(
        "accounting/response-has-the-last-update", plain, usage(prompt_tokens=0), "last usage update", "lower", "/usage"
    ),
    Case(
        "accounting/each-call-counts-for-itself",
        plain,
        summed,
        "the sum with 18",
        "earlier-calls-added",
        "/usage/prompt_tokens",
    ),
]

CACHE = [
    Case(
        "cache/at-most-four-marks",
        growing,
        wire(many_marks, 5),
        "at most 4 cache marks",
        "too-many",
        "/messages/0/content/0",
    ),
    Case(
        "cache/history-is-marked", growing, wire(unmarked, every=True), "got none", "missing", "/messages/4/content/0"
    ),
    Case("cache/marks-reach-the-wire", growing, wire(unmarked, 3), "with the life", "lost", "/messages"),
    Case(
        "cache/reads-grow-with-the-history",
        growing,
        reads,
        "got 0",
        "less-read",
        "/5",
    ),
    Case(
        "cache/tool-order-is-stable",
        growing,
        wire(lambda body: body["tools"].reverse(), 2),
        "in the order",
        "order",
        "/tools/0/name",
    ),
    Case(
        "cache/prefix-is-stable",
        growing,
        wire(lambda body: body["messages"][0]["content"][0].update(text="Entry 0, now."), 3),
        'got "Entry 0, now."',
        "changed",
        "/messages/0/content/0/text",
    ),
]

THINKING = [
    Case(
        "thinking/signed-thinking-goes-back-in-a-tool-loop",
        thinking,
        wire(without("thinking", 1), 1),
        "Signed thinking",
        "missing",
        "/messages/1/content",
    ),
    Case(
        "thinking/signed-thinking-goes-back-in-a-tool-loop",
        thinking,
        wire(lambda body: body["messages"][1]["content"][0].update(signature="b3RoZXI="), 1),
        "The signature of thinking",
        "changed",
        "/messages/1/content/0/signature",
    ),
    Case(
        "thinking/redacted-thinking-goes-back-in-a-tool-loop",
        thinking,
        wire(lambda body: body["messages"][1]["content"][1].update(data="b3RoZXI="), 1),
        "Redacted thinking",
        "changed",
        "/messages/1/content/1/data",
    ),
    Case(
        "thinking/redacted-thinking-goes-back-in-a-tool-loop",
        thinking,
        wire(without("redacted_thinking", 1), 1),
        "Redacted thinking",
        "missing",
        "/messages/1/content",
    ),
    Case(
        "thinking/nothing-is-forged", thinking, wire(trimmed, 1), "never finished", "unknown", "/messages/1/content/0"
    ),
    Case(
        "thinking/comes-before-its-call",
        thinking,
        wire(call_first, 1),
        'got ["call", "thinking"',
        "order",
        "/messages/1/content/1",
    ),
    Case(
        "thinking/blocks-stay-apart",
        thinking,
        lambda view: spoilt(view, Response, response_with(parts=(Thought(text="I must look."),))),
        'expected the thought ""',
        "changed",
        "/parts",
    ),
    Case(
        "thinking/is-passed-on",
        thinking,
        lambda view: spoilt(view, Thinking, lambda event: None),
        "I must look.",
        "callbacks",
    ),
    Case(
        "thinking/is-no-text",
        thinking,
        lambda view: spoilt(view, Chunk, lambda event: replace(event, text="It is known. " + event.text)),
        "passed to `on_chunk`",
        "in-chunks",
        "/2/text",
    ),
    Case(
        "thinking/setting-goes-out",
        thinking,
        wire(lambda body: body.pop("thinking") and None, 1),
        "asks for thinking",
        "missing",
        "",
    ),
]

CONTENT = [
    Case(
        "structured/schema-is-on-the-wire",
        structured,
        wire(lambda body: body.pop("output_config") and None),
        "without all of its properties",
        "missing",
        "",
    ),
    Case(
        "structured/output-is-parsed",
        structured,
        lambda view: spoilt(view, Response, response_with(structured_output=None)),
        "structured_output",
        "changed",
        "",
    ),
    Case(
        "structured/output-is-parsed",
        structured,
        lambda view: spoilt(view, Response, response_with(structured_output={"bed": "4", "moist": True})),
        'expected "3"',
        "changed",
        "/structured_output/bed",
    ),
    Case(
        "structured/tools-and-system-stay-in-force",
        structured,
        wire(lambda body: body.pop("tools") and None),
        "read_sensor",
        "tool-missing",
        "",
    ),
    Case(
        "structured/tools-and-system-stay-in-force",
        structured,
        wire(lambda body: body.pop("system") and None),
        "together with the schema",
        "system-missing",
        "",
    ),
    Case(
        "multimodal/images-reach-the-wire",
        pictures,
        wire(without("image", 0), 1),
        "image/png",
        "missing",
        "/messages/0/content",
    ),
    Case(
        "multimodal/documents-reach-the-wire",
        pictures,
        wire(without("document", 0), 1),
        "application/pdf",
        "missing",
        "/messages/0/content",
    ),
    Case(
        "multimodal/attachments-of-results-reach-the-wire",
        pictures,
        wire(lambda body: body["messages"][2]["content"][0]["content"].pop() and None, 1),
        'in the result of the call "toolu_1"',
        "missing",
        "/messages/2/content/0",
    ),
    Case(
        "multimodal/content-keeps-its-order",
        pictures,
        wire(lambda body: body["messages"][0]["content"].reverse()),
        "another order",
        "order",
        "/messages/0/content",
    ),
]

HISTORY = [
    Case(
        "gc/pairs-stay-whole",
        collected,
        wire(lambda body: body["messages"].pop(2) and None, 4),
        'a result for the call "toolu_2"',
        "no-result",
        "/messages",
    ),
    Case(
        "gc/pairs-stay-whole",
        collected,
        wire(lambda body: body["messages"].pop(1) and None, 4),
        'the call "toolu_2" in front of its result',
        "no-call",
        "/messages",
    ),
    Case(
        "gc/first-message-is-the-users",
        collected,
        wire(lambda body: body["messages"].pop(0) and None, 4),
        'a first message of role "user"; got "model"',
        "role",
        "/messages",
    ),
    Case(
        "gc/next-turn-is-answered",
        collected,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error"), 2),
        'expected the outcome "answer"; got "error"',
        "outcome",
    ),
    Case(
        "gc/removed-history-stays-removed",
        collected,
        wire(lambda body: body["messages"].insert(0, {"role": "user", "content": "How is bed 3?"}), 4),
        "How is bed 3?",
        "sent",
        "/messages/0/content",
    ),
    Case(
        "gc/system-and-tools-stay-in-force",
        collected,
        wire(lambda body: body.pop("tools") and None, 4),
        "read_sensor",
        "tool-missing",
        "",
    ),
    Case(
        "persistence/loaded-history-is-the-saved-one",
        saved,
        lambda view: spoilt(view, Loaded, lambda event: replace(event, messages=event.messages[:1])),
        "The loaded history is not the saved one.",
        "changed",
        "/1/messages",
    ),
    Case(
        "persistence/next-request-is-unbroken",
        saved,
        wire(lambda body: body["messages"].pop(0) and None, 1),
        "The request after loading",
        "changed",
        "/messages/0/content/0",
    ),
    Case(
        "persistence/a-fresh-object-continues",
        swapped,
        wire(lambda body: body.update(messages=body["messages"][-1:]), 1),
        "The request of a new provider object",
        "changed",
    ),
    Case("persistence/loading-sends-nothing", saved, loading, "got 1 requests", "requests"),
]

PARITY = [
    Case(
        "parity/same-outcome-of-each-turn",
        plain,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error")),
        'expected the outcome "answer"; got "error"',
        "outcome",
        "/1/outcome",
    ),
    Case(
        "parity/same-number-of-requests",
        plain,
        lambda view: spoilt(view, WireRequest, lambda event: replace(event, operation="count_tokens"), 1),
        "expected 1 requests, one for each round; got 0 requests",
        "count",
    ),
    Case(
        "parity/same-history-after-each-turn",
        lambda: plain(path="legacy"),
        lambda view: spoilt(view, HistorySnapshot, lambda event: replace(event, messages=event.messages[:1]), 1),
        "as in the session's history",
        "copies-differ",
        "/provider",
    ),
]

SECURITY = [
    Case(
        "security/key-is-nowhere-else",
        plain,
        lambda view: View(
            replace(
                view.transcript,
                events=(*view.transcript.events[:-1], replace(view.transcript.end, leaks=("Failed in turn 0",))),
            ),
            view.dialect,
            view.scenario,
        ),
        "Failed in turn 0",
        "leaked",
        "/0/leaks/0",
    ),
    Case(
        "security/key-stays-out-of-addresses",
        plain,
        lambda view: spoilt(view, WireRequest, lambda event: replace(event, path="/v1/messages?key=abc")),
        'the parameter "key"',
        "key-parameter",
    ),
    Case(
        "security/the-key-it-was-given-is-used",
        plain,
        lambda view: spoilt(
            view, WireRequest, lambda event: replace(event, headers={**event.headers, "authorization": "[other]"})
        ),
        "another key",
        "other-key",
    ),
]

ALL = ACCOUNTING + CACHE + THINKING + CONTENT + HISTORY + PARITY + SECURITY


@pytest.mark.parametrize("case", ALL, ids=attrgetter("id", "code"))
def test_the_good_run_holds_and_the_spoilt_one_does_not(case: Case) -> None:
    decide(case)


SIGNED = Thought(text="Hm.", provider_data=ProviderData("anthropic-messages", "", {"signature": "s"}))


def status(name: str, view: View) -> Status:
    return judge(suite().catalogue[name], view.key.path, [view]).status


def test_a_request_without_a_key_is_found() -> None:
    view = spoilt(plain(), WireRequest, lambda event: replace(event, headers={}))
    found = judge(suite().catalogue["security/the-key-it-was-given-is-used"], "stateless", [view]).findings
    assert [one.code for one in found] == ["security/the-key-it-was-given-is-used/missing"]


def test_a_token_that_the_key_was_exchanged_for_is_as_good_as_the_key() -> None:
    view = spoilt(
        plain(), WireRequest, lambda event: replace(event, headers={**event.headers, "authorization": "[issued]"})
    )
    assert status("security/the-key-it-was-given-is-used", view) is Status.HELD


def test_thinking_of_turns_that_are_over_may_be_left_out() -> None:
    made = Made(
        scripted([Thought(text="Hm."), "Yes."]), scripted(["Sure."]), options={"thinking": {"budget_tokens": 1024}}
    )
    made.turn("Moist?").call(Thought(text="Hm."), "Yes.").end().turn("Sure?").call("Sure.").end()
    view = spoilt(made.view(), WireRequest, body_with(without("thinking", 1)), 1)
    for name in ("signed-thinking-goes-back-in-a-tool-loop", "comes-before-its-call"):
        assert status(f"thinking/{name}", view) is Status.INCONCLUSIVE
    assert status("thinking/nothing-is-forged", view) is Status.HELD


def test_nothing_is_decided_on_forged_thinking_before_the_model_has_thought() -> None:
    assert status("thinking/nothing-is-forged", plain()) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("parts", "complete", "whole"),
    [
        ((SIGNED,), False, (SIGNED,)),
        ((SIGNED, Thought(text="Hm.")), True, (SIGNED,)),
        ((Thought(text="Hm."),), True, (Thought(text="Hm."),)),
        ((Thought(text="Hm."),), False, ()),
        ((Thought(text="Hm."), Text("Ye")), False, (Thought(text="Hm."),)),
        ((Thought(text="Hm."), Text("Ye"), Thought(text="No")), False, (Thought(text="Hm."),)),
        ((), False, ()),
    ],
)
def test_a_thought_that_nobody_signs_is_over_where_something_follows_it(
    parts: tuple[Part, ...], complete: bool, whole: tuple[Thought, ...]
) -> None:
    assert _whole_thoughts(WireAnswer(200, parts=parts, complete=complete)) == whole


@pytest.mark.parametrize(
    ("operation", "body", "verdict"),
    [
        ("list_models", None, Status.HELD),
        ("get_model", {"model": "qwen3"}, Status.HELD),
        ("other", None, Status.HELD),
        ("other", {"file": "log"}, Status.VIOLATED),
        ("count_tokens", {"messages": []}, Status.VIOLATED),
    ],
)
def test_who_loads_a_conversation_may_ask_about_the_models(operation: str, body: Any, verdict: Status) -> None:
    later = loading(saved())
    events = later.transcript.events
    second = [event for event in events if isinstance(event, WireRequest)][1]
    asked = replace(second, exchange=second.exchange - 1, operation=operation, body=body, extra=True, call=-1)
    transcript = replace(later.transcript, events=(*events[:-1], asked, events[-1]))
    view = View(transcript, later.dialect, later.scenario)
    assert status("persistence/loading-sends-nothing", view) is verdict


def test_a_cache_that_only_ever_serves_the_head_of_the_prompt_is_found() -> None:
    def constant(event: WireResponse) -> WireResponse:
        body = event.body
        for n in range(1, 6):
            body = body.replace(f'"cache_read_input_tokens":{1500 + 500 * n}', '"cache_read_input_tokens":1000')
        return replace(event, body=body)

    view = spoilt(growing(), WireResponse, constant, every=True)
    verdict = judge(suite().catalogue["cache/reads-grow-with-the-history"], "stateless", [view])
    (found,) = verdict.findings
    assert found.code == "cache/reads-grow-with-the-history/no-growth"
    assert (found.place.side, found.place.pointer) == (Side.REQUEST, "/messages/10/content/0")
    assert [place.side for place in found.related] == [Side.STREAM]
    points_to_something(found, view)


def test_the_life_of_a_mark_is_part_of_it() -> None:
    def longer(event: WireRequest) -> WireRequest:
        return body_with(lambda body: body["messages"][-1]["content"][0]["cache_control"].update(ttl="1h"))(event)

    assert status("cache/marks-reach-the-wire", spoilt(growing(), WireRequest, longer)) is Status.VIOLATED


def test_a_stateless_history_that_lacks_the_answer_is_found() -> None:
    view = spoilt(plain(), HistorySnapshot, lambda event: replace(event, messages=(Message.user("How is bed 3?"),)))
    assert status("parity/same-history-after-each-turn", view) is Status.VIOLATED


def test_parsed_output_is_compared_by_value_not_by_spelling() -> None:
    view = spoilt(structured(), Response, response_with(structured_output={"moist": True, "bed": "3"}))
    assert status("structured/output-is-parsed", view) is Status.HELD


def test_every_requirement_of_the_frozen_profiles_has_a_case() -> None:
    from . import (
        test_agent_checks,
        test_aside_checks,
        test_cancellation_checks,
        test_context_checks,
        test_core_checks,
        test_error_checks,
        test_handoff_checks,
        test_history_checks,
        test_managed_cache_checks,
        test_operation_checks,
        test_other_path_check,
        test_session_checks,
        test_session_list_checks,
        test_subagent_checks,
        test_telemetry_checks,
        test_tool_checks,
    )

    cases = [
        *ALL,
        *test_agent_checks.CASES,
        *test_aside_checks.CASES,
        *test_context_checks.CASES,
        *test_core_checks.CORE,
        *test_core_checks.STREAMING,
        *test_tool_checks.CASES,
        *test_cancellation_checks.CASES,
        *test_error_checks.ERRORS,
        *test_error_checks.RECOVERY,
        *test_handoff_checks.CASES,
        *test_history_checks.CASES,
        *test_operation_checks.CASES,
        *test_other_path_check.CASES,
        *test_session_checks.CASES,
        *test_session_list_checks.CASES,
        *test_subagent_checks.CASES,
        *test_telemetry_checks.CASES,
        *test_managed_cache_checks.CASES,
    ]
    # The comparison of modes takes two runs and has tests of its own.
    assert {case.id for case in cases} | {"streaming/stream-and-batch-agree"} == set(suite().profiles.ids)


@pytest.mark.parametrize(
    ("text", "data", "redacted"),
    [
        ("", {"redacted": "RW5j"}, True),
        ("", {"encrypted": "RW5j"}, True),
        ("In short.", {"encrypted": "RW5j"}, False),
        ("", {"signature": "c2ln"}, False),
        ("I must look.", {}, False),
    ],
)
def test_thinking_that_nobody_can_read_is_redacted(text: str, data: dict[str, str], redacted: bool) -> None:
    """Anthropic has blocks of its own for it; in the Responses API it is reasoning without a summary."""
    assert _is_redacted(Thought(text, provider_data=ProviderData("d", "m", data))) is redacted


@pytest.mark.parametrize(
    ("keeps_ids", "changed_text", "status"),
    [(False, False, Status.HELD), (True, False, Status.VIOLATED), (False, True, Status.VIOLATED)],
)
def test_loading_may_change_ids_that_a_session_has_no_claim_on(
    keeps_ids: bool, changed_text: bool, status: Status
) -> None:
    """`message_ids=False`: the ids in the history are made up each time that it is read."""

    def with_other_ids(event: Loaded) -> Loaded:
        parts = (Text("Dry."),) if changed_text else None
        messages = (
            replace(one, message_id=f"new{n}", parts=parts or one.parts) for n, one in enumerate(event.messages)
        )
        return replace(event, messages=tuple(messages), message_ids=keeps_ids)

    check = suite().catalogue["persistence/loaded-history-is-the-saved-one"]
    assert judge(check, "stateless", [spoilt(saved(), Loaded, with_other_ids)]).status is status
