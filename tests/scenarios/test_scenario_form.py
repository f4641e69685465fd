"""What a scenario file becomes: every form of the YAML, and what follows from it without being written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import TypeAlias

import pytest

from turnproof.messages import FileRef, FinishReason, FunctionCall, InlineData, ProviderData, Text, Thought
from turnproof.scenarios import Scenario, load, load_all
from turnproof.scenarios.model import Cut, Fault

Read: TypeAlias = Callable[[str], Scenario]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str) -> Scenario:
        file = tmp_path / "garden" / "one.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return load(file)

    return read


def test_the_smallest_scenario_has_every_default(read: Read) -> None:
    scenario = read("title: T\nturns: [{user: Hello., model: Hi.}]")
    assert scenario.name == "garden/one"
    assert scenario.file.endswith("garden/one.yaml")
    assert (scenario.modes, scenario.features, scenario.depth) == (("stream", "batch"), (), "quick")
    (turn,) = scenario.turns
    assert turn.user == (Text("Hello."),)
    assert turn.rounds[0].parts[0].part == Text("Hi.")
    assert (turn.rounds[0].finish, turn.expect) == (FinishReason.STOP, "answer")


def test_words_that_yaml_would_change_stay_words(read: Read) -> None:
    """YAML 1.1 reads these as a boolean, a number in base 60 and a date."""
    scenario = read(
        """
        title: T
        tools: [{name: on}]
        results: {on: [no, 12:30, 2024-05-01, 007, 0o17, 1_000, .inf, 41, 1.5e3, true, null, "41"]}
        turns: [{user: yes, model: [[{call: on}], [off]]}]
        """
    )
    words = ["no", "12:30", "2024-05-01", "007", "0o17", "1_000", ".inf"]
    assert scenario.turns[0].results["on"].result == [*words, 41, 1500.0, True, None, "41"]
    assert scenario.turns[0].user == (Text("yes"),)


def test_texts_can_be_repeated_wherever_they_stand(read: Read) -> None:
    scenario = read(
        """
        title: T
        system: {repeat: "ab ", times: 3}
        tools: [{name: note, takes: {text: string}}]
        results: {note: {repeat: x, times: 4}}
        turns:
          - user: [{repeat: u, times: 2}, {text: {repeat: v, times: 2}}]
            model:
              - - {text: [{repeat: m, times: 2}, {each: n, times: 3}]}
                - {call: note, args: {text: {repeat: a, times: 5}}}
              - {repeat: w, times: 2}
        """
    )
    turn = scenario.turns[0]
    assert scenario.system == "ab ab ab "
    assert turn.user == (Text("uu"), Text("vv"))
    first, call = turn.rounds[0].parts
    assert (first.part, first.pieces) == (Text("mmnnn"), ("mm", "n", "n", "n"))
    assert call.part == FunctionCall("", "note", {"text": "aaaaa"})
    assert turn.rounds[1].parts[0].part == Text("ww")
    assert turn.results["note"].result == "xxxx"


def test_every_part_of_an_answer_is_read_in_order(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools: [{name: read, takes: {bed: string}}]
        turns:
          - user: U
            model:
              - - thinking: [a, b]
                - redacted: DATA
                - {text: c}
                - {call: read, pieces: ['{"bed', '": "3"}'], id: call_9}
                - {call: fly, unknown: true}
              - [d]
            results: {read: 1}
        """
    )
    thought, redacted, text, read_call, fly = scenario.turns[0].rounds[0].parts
    assert (thought.part, thought.pieces) == (Thought("ab"), ("a", "b"))
    assert isinstance(redacted.part, Thought)
    assert redacted.part.provider_data is not None
    assert redacted.part.provider_data.data == {"redacted": "DATA"}
    assert (text.part, text.pieces) == (Text("c"), ())
    assert read_call.part == FunctionCall("call_9", "read", {"bed": "3"})
    assert fly.part == FunctionCall("", "fly", {})
    assert scenario.features == ("opaque_thinking", "parallel_tools", "thinking", "tools")


def test_what_no_form_can_say_is_given_as_each_dialect_spells_it(read: Read) -> None:
    scenario = read(
        """
        title: T
        features: [wire:server-tools]
        tools: [{name: read, takes: {bed: string}}]
        turns:
          - user: U
            model:
              - - block: {gemini: {executableCode: {code: "1"}}, anthropic-messages: {type: server_tool_use}}
                - {text: c, data: {citations: [{cited_text: c}]}}
                - {call: read, args: {bed: "3"}, data: {caller: {type: code}}}
              - [d]
            results: {read: 1}
        """
    )
    block, text, call = scenario.turns[0].rounds[0].parts
    assert block.own_block("gemini") == {"executableCode": {"code": "1"}}
    assert block.own_block("anthropic-messages") == {"type": "server_tool_use"}
    assert block.own_block("openai-chat") is None
    assert text.own_block("gemini") is None
    assert text.part.provider_data == ProviderData("scenario", "", {"citations": [{"cited_text": "c"}]})
    assert call.part.provider_data == ProviderData("scenario", "", {"caller": {"type": "code"}})


def test_how_a_round_ends_follows_from_what_it_holds(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools: [{name: read, takes: {bed: string, depth?: number}}]
        results: {read: 1}
        turns:
          - user: calls
            model: [[{call: read}], [done]]
          - user: clipped
            model: [[{call: read, args: {bed: "3"}, pieces: ['{"bed": "3", "de'], broken: true}]]
          - user: a stop sequence
            model: [{parts: [one], finish: stop_sequence}]
          - user: a new word
            model: [{parts: [one], finish: unknown, raw_finish: sundown, usage: {output: 9}}]
          - user: nothing
            model: [[]]
        """
    )
    rounds = [turn.rounds[0] for turn in scenario.turns]
    assert [(one.finish.value, one.raw_finish) for one in rounds] == [
        ("tool_use", None),
        ("max_tokens", None),
        ("stop", "stop_sequence"),
        ("unknown", "sundown"),
        ("stop", None),
    ]
    assert rounds[1].parts[0].broken
    assert rounds[1].parts[0].part == FunctionCall("", "read", {"bed": "3"})
    assert rounds[3].usage == {"output": 9}
    assert rounds[4].parts == ()


def test_tools_are_declared_in_short_or_in_full_and_named_again(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools:
          - {name: read, description: Read, takes: {bed: string, depth?: number, rows?: {type: array}}}
          - {name: raw, parameters: {type: object, additionalProperties: true}}
          - {name: bare}
        turns:
          - {user: a, model: b}
          - {tools: [raw, {name: read, description: Anew}], user: a, model: b}
          - {tools: [bare, read], user: a, model: b}
          - {tools: [], user: a, model: b}
        """
    )
    assert scenario.tools[0].parameters == {
        "type": "object",
        "properties": {"bed": {"type": "string"}, "depth": {"type": "number"}, "rows": {"type": "array"}},
        "required": ["bed"],
    }
    assert scenario.tools[1].parameters == {"type": "object", "additionalProperties": True}
    assert scenario.tools[2].parameters == {"type": "object", "properties": {}}
    changes = [turn.tools and [(tool.name, tool.description) for tool in turn.tools] for turn in scenario.turns]
    assert changes == [None, [("raw", ""), ("read", "Anew")], [("bare", ""), ("read", "Anew")], ()]


def test_a_tool_answers_different_arguments_differently(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools: [{name: read, takes: {bed: string}}]
        turns:
          - user: U
            model: [[{call: read, args: {bed: "3"}}], [d]]
            results:
              read:
                error: no such bed
                cases:
                  - {when: {bed: "3"}, result: {moisture: 41}}
                  - {when: {bed: "4", deep: true}, attachments: [{image: png}]}
        """
    )
    script = scenario.turns[0].results["read"]
    assert script.for_args({"bed": "3", "deep": True}).result == {"moisture": 41}
    assert script.for_args({"bed": "4", "deep": True}).attachments[0].mime_type == "image/png"
    assert script.for_args({"bed": "4"}).error == "no such bed"
    assert script.for_args({}) is script


def test_results_of_the_scenario_serve_turns_that_have_none_of_their_own(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools: [{name: read}, {name: water}]
        results: {read: often, water: done}
        turns:
          - {user: a, model: [[{call: read}], [b]]}
          - {user: a, model: [[{call: read}], [{call: water}], [b]], results: {read: once}}
          - {user: a, model: b}
        """
    )
    results = [{name: script.result for name, script in turn.results.items()} for turn in scenario.turns]
    assert results == [{"read": "often"}, {"read": "once", "water": "done"}, {}]


def test_what_the_service_does_by_itself_is_for_adapters_that_have_room_for_it(read: Read) -> None:
    scenario = read(
        """
        title: T
        turns:
          - user: U
            model: [[{block: {anthropic-messages: {type: server_tool_use, id: s1, name: web_search, input: {}}}}]]
        """
    )
    assert scenario.features == ("service_tools",)


def test_media_are_small_and_valid(read: Read) -> None:
    scenario = read(
        """
        title: T
        turns:
          - user:
              - image: png
              - image: gif
              - image: jpeg
              - document: pdf
              - {file: "https://a.example/b.png", mime: image/png}
            model: b
        """
    )
    png, gif, jpeg, pdf, reference = scenario.turns[0].user
    assert isinstance(png, InlineData)
    assert isinstance(gif, InlineData)
    assert isinstance(pdf, InlineData)
    assert png.data.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.data.endswith(b"IEND\xaeB`\x82")
    assert gif.data.startswith(b"GIF89a")
    assert isinstance(jpeg, InlineData)
    assert jpeg.data.startswith(b"\xff\xd8\xff")
    assert pdf.data[int(pdf.data.split()[-2]) :].startswith(b"xref")
    assert max(len(part.data) for part in (png, gif, jpeg, pdf)) < 1000
    assert reference == FileRef(mime_type="image/png", uri="https://a.example/b.png")
    assert scenario.features == ("documents", "image_urls", "images")


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("before-start", Cut("before-start")),
        ("batch", Cut("batch")),
        ("{after: 'text:2'}", Cut("event", after="text:2")),
        ("{index: 3}", Cut("event", index=3)),
        ("{after: 'text:2', on-piece: 1}", Cut("event", after="text:2", on_piece=1)),
        ("{at: tool, index: 1}", Cut("tool", index=1)),
        ("{at: between-tools}", Cut("between-tools")),
    ],
)
def test_cancel_points_are_read(written: str, read_as: Cut, read: Read) -> None:
    scenario = read(
        f"""
        title: T
        tools: [{{name: read}}]
        results: {{read: 1}}
        turns:
          - user: U
            model: [[{{text: [a, b]}}, {{call: read}}, {{call: read}}]]
            cancel: {written}
          - {{user: U, model: [[{{call: read}}], [b]]}}
        """
    )
    assert scenario.turns[0].cancel == read_as
    assert scenario.turns[0].expect == "cancelled"
    assert scenario.modes == (("stream",) if read_as.at == "event" else ("stream", "batch"))
    assert ("cancel_batch" if read_as.at == "batch" else "cancel") in scenario.features


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("{kind: status, status: 429, retry-after: 1.5}", Fault("status", status=429, retry_after=1.5)),
        (
            "{kind: status, status: 429, retry-after: 9, retry-after-as: date}",
            Fault("status", status=429, retry_after=9, retry_after_as="date"),
        ),
        (
            "{kind: status, status: 500, message: m, error-kind: k}",
            Fault("status", status=500, message="m", error_kind="k"),
        ),
        ("{kind: reset, index: -1, times: 2}", Fault("reset", index=-1, times=2)),
        ("{kind: stall, after: 'text:1'}", Fault("stall", after="text:1")),
        ("{kind: refuse-connection}", Fault("refuse-connection", index=-1)),
        ("{kind: split}", Fault("split")),
    ],
)
def test_faults_are_read(written: str, read_as: Fault, read: Read) -> None:
    scenario = read(f"title: T\nturns: [{{user: U, model: [[{{text: [a, b]}}]], faults: {written}}}]")
    assert scenario.turns[0].faults == (read_as,)
    assert ("typed_errors" in scenario.features) == (read_as.kind != "split")


def test_a_turn_can_be_played_several_times(read: Read) -> None:
    scenario = read(
        """
        title: T
        tools: [{name: read, takes: {bed: string}}]
        results: {read: 1}
        turns:
          - {user: "Bed {n}?", model: [[{call: read, args: {bed: "{n}"}}], ["Bed {n}."]], times: 3}
          - {user: "Bed {n}?", model: stays as it is}
        """
    )
    assert [turn.user[0] for turn in scenario.turns] == [Text(f"Bed {n}?") for n in ("1", "2", "3", "{n}")]
    call = scenario.turns[1].rounds[0].parts[0].part
    assert isinstance(call, FunctionCall)
    assert call.args == {"bed": "2"}


def test_features_follow_from_the_content_and_can_be_added(read: Read) -> None:
    scenario = read(
        """
        title: T
        features: ["cache:explicit", lifecycle]
        cache: true
        modes: [stream]
        options: {thinking: {type: adaptive}, max_tokens: 10, timeout: 1, context_tokens: 3000}
        turns:
          - {user: U, model: b, response_schema: {type: object}}
        """
    )
    assert scenario.features == (
        "cache",
        "cache:explicit",
        "lifecycle",
        "streaming",
        "structured",
        "thinking",
        "typed_errors",
    )
    assert scenario.options == {
        "thinking": {"type": "adaptive"},
        "max_tokens": 10,
        "timeout": 1.0,
        "context_tokens": 3000,
    }


def test_a_turn_of_actions_alone_says_nothing(read: Read) -> None:
    scenario = read("title: T\nturns: [{user: U, model: b}, {before: [gc, save-load, gc]}, {before: reset}]")
    assert [turn.before for turn in scenario.turns] == [(), ("gc", "save-load", "gc"), ("reset",)]
    assert [bool(turn.user) for turn in scenario.turns] == [True, False, False]


def test_a_turn_may_do_nothing_but_go_back(read: Read) -> None:
    scenario = read(
        "title: T\nturns: [{user: U, model: b}, {revert: 0}, {before: tamper, revert: 7, user: U, model: b}]"
    )
    assert [turn.revert for turn in scenario.turns] == [None, 0, 7]


def test_a_cancel_says_whether_the_session_is_stopped(read: Read) -> None:
    scenario = read(
        """
        title: T
        turns:
          - {user: U, model: b, cancel: {after: "text:1", by: stop}}
          - {user: U, model: b, cancel: {at: batch}}
          - {user: U, model: b}
        """
    )
    assert [turn.cancel.by for turn in scenario.turns if turn.cancel] == ["stop", "token"]


def test_a_scenario_may_be_for_sessions_alone(read: Read) -> None:
    turns = "turns: [{user: U, model: b}]"
    assert read(f"title: T\n{turns}").subject == "adapter"
    assert read(f"title: T\nsubject: session\n{turns}").subject == "session"


@pytest.mark.parametrize(
    ("turn", "operations"),
    [
        ("{user: U, model: b}", ()),
        ("{before: gc, user: U, model: b}", ("collect",)),
        ("{before: [save-load, damaged-load], user: U, model: b}", ("load", "save")),
        ("{before: [new-provider, tamper, reset], user: U, model: b}", ("reset", "swap")),
        ("{revert: 0, user: U, model: b}", ("revert",)),
        ("{system: S, user: U, model: b}", ("configure",)),
        ("{user: U, model: b, cancel: {at: batch, by: stop}}", ("stop",)),
        ("{child: {user: Look., model: c}, user: U, model: b}", ("spawn",)),
        ("{before: save-load-other-path, user: U, model: b}", ("load", "other_path", "path", "save")),
        ("{user: [U, V], model: b}", ("send_parts",)),
        ("{user: [{image: png}], model: b}", ("send_parts",)),
    ],
)
def test_a_scenario_knows_what_its_session_must_be_able_to_do(
    turn: str, operations: tuple[str, ...], read: Read
) -> None:
    assert read(f"title: T\nturns: [{turn}]").operations == operations


def test_the_system_text_of_a_turn_is_the_last_one_given(read: Read) -> None:
    scenario = read(
        "title: T\nsystem: A\nturns: [{user: U, model: b}, {system: B, user: U, model: b}, {user: U, model: b}]"
    )
    assert [scenario.system_in(turn) for turn in range(3)] == ["A", "B", "B"]


def test_names_are_paths_and_come_in_order(tmp_path: Path) -> None:
    for name in ("b/two", "a/deep/one", "c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\ntitle: T\nturns: [{{user: a, model: b}}]\n")
    loaded = load_all(tmp_path)
    assert list(loaded) == ["a/deep/one", "b/two", "c"]
    assert [scenario.name for scenario in loaded.values()] == list(loaded)
