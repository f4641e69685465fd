"""What a digest reads of each event, against the rules walked through one value after another."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from properties import examples

from turnproof._base.canonical import canonical, canonical_plain
from turnproof._base.volatile import Volatile
from turnproof.messages import FunctionCall, Message, Text, ToolResult
from turnproof.run.tracebacks import Raised
from turnproof.run.transcript import (
    CallBegan,
    Chunk,
    Collected,
    Event,
    Failed,
    HistorySnapshot,
    Saved,
    SpanMade,
    ToolRun,
    WireRequest,
    WireResponse,
)

RULES = Volatile.load()


class Plain:
    """The rules word for word: every value is looked at, and every path held against all rules."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def events(self, events: Sequence[Event]) -> list[bytes]:
        found = [self.value(plain, plain["event"]) for plain in map(msgspec.to_builtins, events)]
        for probe in RULES.unordered_probes:
            places = [place for place, event in enumerate(found) if event.get("probe") == probe]
            probe_events = [found[place] for place in places]
            digests = {event["exchange"]: event["digest"] for event in probe_events if event["event"] == "wire_request"}
            named = [
                event | {"exchange": digests.get(event["exchange"])} if "exchange" in event else event
                for event in probe_events
            ]
            for place, event in zip(places, sorted(named, key=canonical), strict=True):
                found[place] = event
        return list(map(canonical, found))

    def value(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            for rule in RULES.settled:
                parent, _, name = rule.rpartition(".")
                for each, size in value.get(name, {}).items() if path == parent else ():
                    value = value | {each: value[each][:size] if isinstance(value.get(each), str) else size}
            members = {key: item for key, item in value.items() if not self.dropped(path, key)}
            out = {key: self.value(item, f"{path}.{key}") for key, item in members.items()}
            return out | ({"message_id": self.id(value["message_id"])} if is_message(value) else {})
        if isinstance(value, list | tuple):
            return [self.id(item) if path in RULES.id_lists else self.value(item, path) for item in value]
        if isinstance(value, str) and path in RULES.json_text:
            self.learn(saved := json.loads(value))
            return self.saved(saved)
        if isinstance(value, str) and path in RULES.scrub:
            for pattern, to in RULES.patterns.items():
                value = re.sub(pattern, to, value)
        return value

    def dropped(self, path: str, key: str) -> bool:
        rules = (rule.rpartition(".") for rule in RULES.drop)
        return any(path == parent and fnmatchcase(key, glob) for parent, _, glob in rules)

    def learn(self, value: Any) -> None:
        if isinstance(value, dict) and is_message(value):
            self.id(value["message_id"])
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                self.learn(item)

    def saved(self, value: Any) -> Any:
        if isinstance(value, dict) and is_message(value):
            return value | {"message_id": self.id(value["message_id"])}
        if isinstance(value, dict):
            return {key: self.saved(item) for key, item in value.items() if key not in RULES.drop_in_json}
        if isinstance(value, list):
            return [self.saved(item) for item in value]
        return self.ids.get(value, value) if isinstance(value, str) else value

    def id(self, name: str) -> str:
        return self.ids.setdefault(name, f"id-{len(self.ids) + 1}")


def is_message(value: Mapping[str, Any]) -> bool:
    return "role" in value and "parts" in value and isinstance(value.get("message_id"), str)


IDS = st.sampled_from(["a", "b", "c", "id-1"])
WORDS = st.sampled_from(["", "hi", "a", '"message_id"', "message_id", "http://127.0.0.1:80/run/x/v1", "Grüße 🌱"])
KEYS = st.sampled_from(["a", "role", "parts", "message_id", "date", "raw", "session_id"])
LOOKALIKES = st.fixed_dictionaries(
    {"role": WORDS, "parts": st.lists(WORDS, max_size=2), "message_id": IDS | st.integers()}
)
JSONS = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-9, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | LOOKALIKES
        | st.fixed_dictionaries({"role": WORDS, "parts": inner, "message_id": IDS})
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, JSONS, max_size=3)
# Half a surrogate pair may stand in a text, though in no payload.
PARTS = (
    st.builds(Text, WORDS | st.just("half \ud83d"))
    | st.builds(FunctionCall, IDS, WORDS, OBJECTS)
    | st.builds(ToolResult, IDS, WORDS, JSONS)
)
MESSAGES = st.builds(Message, st.sampled_from(["user", "model"]), st.lists(PARTS, max_size=3).map(tuple), IDS)
HEADERS = st.dictionaries(st.sampled_from(["host", "date", "retry-after", "x-stainless-os", "x"]), WORDS, max_size=3)
PROBES = st.sampled_from(["", "", "threads", "reversed"])
REQUESTS = st.builds(
    WireRequest,
    exchange=st.integers(0, 3),
    method=st.just("POST"),
    path=WORDS | st.just("half \ud83d"),
    headers=HEADERS,
    body=JSONS,
    digest=WORDS,
    operation=st.just("generate"),
    findings=st.lists(OBJECTS, max_size=2).map(tuple),
    probe=PROBES,
)
RESPONSES = st.builds(
    WireResponse,
    exchange=st.integers(0, 3),
    status=st.just(200),
    headers=HEADERS,
    body=WORDS,
    written=st.just(1),
    ended=st.just("completed"),
    probe=PROBES,
    sent=WORDS | st.none(),
    spelling=st.sampled_from(["", "crlf"]),
    settled=st.dictionaries(
        st.sampled_from(["body", "sent", "written", "ended", "events_after_cancel"]), st.integers(0, 9), max_size=3
    ),
)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Event]:
    """Events of one run: they repeat the same few messages, as objects that are shared or made again."""
    messages = draw(st.lists(MESSAGES, min_size=1, max_size=4))
    history = st.lists(st.sampled_from(messages) | st.sampled_from(messages).map(lambda one: replace(one)), max_size=4)
    event = (
        REQUESTS
        | RESPONSES
        | st.builds(HistorySnapshot, owner=st.just("session"), messages=history.map(tuple))
        | st.builds(
            CallBegan,
            messages=history.map(tuple),
            system=WORDS,
            tools=st.just(()),
            round=st.just(0),
            streamed=st.booleans(),
            response_schema=JSONS,
            probe=PROBES,
        )
        | st.builds(Collected, before=st.lists(IDS).map(tuple), after=st.lists(IDS).map(tuple))
        | st.builds(Saved, data=JSONS.map(json.dumps))
        | st.builds(
            Failed,
            scope=st.just("call"),
            error=WORDS,
            message=WORDS,
            typed=st.booleans(),
            raised=st.none() | st.builds(Raised, type=WORDS, module=WORDS, message=WORDS),
            probe=PROBES,
        )
        | st.builds(ToolRun, call_id=IDS, name=WORDS, args=JSONS, outcome=st.just("ok"))
        | st.builds(
            SpanMade,
            span=st.just(0),
            name=WORDS,
            kind=WORDS,
            status=st.just("ok"),
            calls=st.just((0, 1)),
            attributes=st.dictionaries(st.sampled_from(["url.full", "server.port", "x.duration.y"]), JSONS),
        )
    )
    return draw(st.lists(event, max_size=8))


@examples(60)
@given(transcripts())
def test_what_is_skipped_holds_nothing_volatile(events: list[Event]) -> None:
    """Most of a transcript is never looked into; a walk through all of it must come to the same bytes."""
    assert list(RULES.events(events)) == Plain().events(events)


@examples(60)
@given(transcripts())
def test_a_struct_is_written_as_the_plain_object_that_it_stands_for(events: list[Event]) -> None:
    assert [canonical_plain(event) for event in events] == [canonical(msgspec.to_builtins(event)) for event in events]


def test_what_ran_at_the_same_time_is_put_in_order_also_where_no_rule_looks_into_it() -> None:
    one, other = Chunk(text="a", probe="threads"), Chunk(text="b", probe="threads")
    assert list(RULES.events([other, one])) == list(RULES.events([one, other])) == Plain().events([one, other])
