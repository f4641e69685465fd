"""Replay: found by content in one look-up, the same answer to the same request, and differences shown."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from turnproof.dialects.base import HttpRequest, Rendered
from turnproof.wire.cassettes import Interaction, Mismatch, Player, digest
from turnproof.wire.cassettes.match import both_sides, first_difference

from .kit import bodies, call_of, conversation, counting, pocket, pocket_request, record, recorder


def body(found: Interaction | Mismatch) -> bytes:
    assert isinstance(found, Interaction), found
    return found.response.body


def miss(found: Interaction | Mismatch) -> Mismatch:
    assert isinstance(found, Mismatch), found
    return found


def test_a_request_finds_its_answer_whatever_the_order_of_keys_and_the_settings() -> None:
    player = Player(conversation(3), pocket())
    plain = pocket_request("000001")
    shuffled = dict(reversed(json.loads(plain.body).items())) | {"temperature": 0.7, "max_tokens": 5}
    other = HttpRequest("POST", "/v1/say", {}, {}, json.dumps(shuffled).encode())
    assert body(player.find(call_of(other))) == b'"000001"'


def test_the_same_request_gets_the_same_answer_again() -> None:
    player = Player(conversation(3), pocket())
    found = [player.find(call_of(pocket_request("000001")), 1, 0) for _ in range(4)]
    assert bodies(found) == [b'"000001"'] * 4


def twice() -> Player:
    recording = recorder()
    record(recording, pocket_request("hi"), b'"first"', at=(0, 0))
    record(recording, pocket_request("hi"), b'"second"', at=(2, 0))
    return Player(recording.cassette(), pocket())


@pytest.mark.parametrize(
    ("place", "expected"),
    [((0, 0), b'"first"'), ((1, 0), b'"first"'), ((2, 0), b'"second"'), ((2, 3), b'"second"'), ((9, 0), b'"second"')],
)
def test_the_place_decides_between_recordings_of_one_request(place: tuple[int, int], expected: bytes) -> None:
    player = twice()
    assert bodies([player.find(call_of(pocket_request("hi")), *place) for _ in range(3)]) == [expected] * 3


def test_attempts_with_other_words_at_one_place_answer_in_order_and_the_last_one_stays() -> None:
    recording = recorder()
    for words in (b'"first"', b'"second"'):
        record(recording, pocket_request("hi"), words, at=(1, 0))
    record(recording, pocket_request("hi"), b'"later"', at=(3, 0))
    player = Player(recording.cassette(), pocket())
    assert bodies([player.find(call_of(pocket_request("hi")), 2, 0) for _ in range(3)]) == [
        b'"first"',
        b'"second"',
        b'"second"',
    ]
    assert body(player.find(call_of(pocket_request("hi")), 3, 0)) == b'"later"'


def test_a_place_before_every_recording_gets_the_first() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b"1", at=(1, 0))
    record(recording, pocket_request("hi"), b"2", at=(2, 0))
    assert body(Player(recording.cassette(), pocket()).find(call_of(pocket_request("hi")), 0, 0)) == b"1"


def test_without_a_place_recordings_answer_in_order_and_the_last_one_stays() -> None:
    player = twice()
    assert bodies([player.find(call_of(pocket_request("hi"))) for _ in range(4)]) == [b'"first"'] + [b'"second"'] * 3


def test_counting_tokens_is_not_continuing_the_conversation() -> None:
    dialect = pocket()
    say, count = call_of(pocket_request("hi")), call_of(pocket_request("hi", path="/v1/count"))
    assert dialect.match_form(say) == dialect.match_form(count)
    assert digest(dialect, say) != digest(dialect, count)


def test_what_was_recorded_and_not_played_is_listed() -> None:
    player = Player(conversation(4), pocket())
    player.find(call_of(pocket_request("000002")), 2, 0)
    player.find(call_of(pocket_request("000000")), 0, 0)
    assert bodies(player.unplayed()) == [b'"000001"', b'"000003"']


def test_an_answer_comes_as_events_that_join_to_the_recorded_body() -> None:
    recording = recorder()
    record(recording, pocket_request("hi", stream=True), b"one\ntw", b"o\n", kind="text/event-stream")
    [item] = recording.cassette().interactions
    assert item.chunks == (b"one\ntw", b"o\n")
    player = Player(recording.cassette(), pocket())
    found = player.answer(call_of(pocket_request("hi", stream=True)), 0, 0)
    assert isinstance(found, Rendered)
    assert [event.data for event in found.events] == [b"one\n", b"two\n"]
    assert (found.status, found.headers["content-type"]) == (200, "text/event-stream")
    assert isinstance(player.answer(call_of(pocket_request("ho")), 0, 0), Mismatch)


def test_a_mismatch_shows_path_and_both_sides_of_the_exchange_at_the_same_place() -> None:
    player = Player(conversation(3), pocket())
    player.find(call_of(pocket_request("000000")), 0, 0)
    found = miss(player.find(call_of(pocket_request("changed")), 2, 0))
    assert (found.number, found.place, found.path) == (2, (2, 0), "$.messages[0]")
    assert (found.recorded, found.sent) == ("000002", "changed")
    assert str(found) == (
        "request 2 of pocket/small-talk differs at $.messages[0]: recorded '000002', sent 'changed'. "
        "If intended: turnproof record pocket --only small-talk"
    )
    assert found.text == (
        "CassetteMismatch: request 2 of pocket/small-talk differs at $.messages[0]\n"
        "  recorded '000002'   sent 'changed'\n"
        "  If intended: turnproof record pocket --only small-talk"
    )


def test_off_the_script_the_next_exchange_not_played_is_the_nearest() -> None:
    player = Player(conversation(3), pocket())
    player.find(call_of(pocket_request("000000")))
    assert miss(player.find(call_of(pocket_request("000000", "more")))).recorded == "000001"


def test_a_missing_and_an_added_message_are_nothing_on_the_other_side() -> None:
    player = Player(conversation(1), pocket())
    assert "recorded nothing, sent 'more'" in str(player.find(call_of(pocket_request("000000", "more")), 0, 0))
    assert "recorded '000000', sent nothing" in str(player.find(call_of(pocket_request()), 0, 0))


def test_a_stream_is_no_answer_to_who_asked_for_one_piece() -> None:
    recording = recorder()
    record(recording, pocket_request("hi", stream=True), b"one\n", kind="text/event-stream")
    found = miss(Player(recording.cassette(), pocket()).find(call_of(pocket_request("hi")), 0, 0))
    assert (found.path, found.recorded, found.sent) == ("$.stream", True, False)


def test_an_operation_is_compared_with_the_recorded_one_of_its_kind() -> None:
    recording = recorder()
    record(recording, pocket_request("hi"), b"1")
    record(recording, pocket_request("hi", path="/v1/count"), b"2", extra=True)
    found = miss(Player(recording.cassette(), pocket()).find(call_of(pocket_request("ho", path="/v1/count")), 0, 0))
    assert found.path == "$.messages[0]"


def test_an_empty_cassette_says_that_nothing_was_recorded() -> None:
    found = Player(conversation(0), pocket()).find(call_of(pocket_request("hi")), 0, 0)
    assert str(found).startswith("request 1 of pocket/small-talk is not in the cassette: nothing was recorded.")


def edited(**change: object) -> Player:
    cassette = conversation(1)
    [item] = cassette.interactions
    return Player(msgspec.structs.replace(cassette, interactions=(msgspec.structs.replace(item, **change),)), pocket())


def test_a_digest_that_fits_its_request_no_longer_is_called_stale() -> None:
    assert "its recorded digest is stale" in str(edited(digest="0" * 32).find(call_of(pocket_request("000000")), 0, 0))


def test_a_recorded_request_that_cannot_be_read_is_called_so() -> None:
    request = conversation(1).interactions[0].request
    player = edited(digest="0" * 32, request=msgspec.structs.replace(request, body=b"{"))
    assert "cannot be read: the body is not JSON" in str(player.find(call_of(pocket_request("000000")), 0, 0))


def test_every_look_up_costs_the_same_however_long_the_cassette() -> None:
    """Times are the bench's business; what must not grow is what is done for one request."""
    counted, dialect = counting()
    player = Player(conversation(500), dialect)
    assert (counted.formed, counted.parsed) == (0, 0), "nothing recorded is parsed or formed to build a player"
    costs = []
    for number in range(500):
        before = counted.formed
        player.find(call_of(pocket_request(f"{number:06d}")), number, 0)
        costs.append(counted.formed - before)
    assert costs == [1] * 500
    assert counted.parsed == 0
    assert player.unplayed() == []


def test_a_mismatch_reads_one_recorded_request_not_all() -> None:
    counted, dialect = counting()
    player = Player(conversation(500), dialect)
    player.find(call_of(pocket_request("unheard of")), 499, 0)
    assert (counted.parsed, counted.formed) == (1, 2)


DIFFERENCES: dict[str, tuple[object, object, object]] = {
    "equal": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, None),
    "first by sorted key": ({"b": 1, "a": 1}, {"a": 2, "b": 2}, ("$.a", 1, 2)),
    "deep": ([{"x": ["y", "z"]}], [{"x": ["y", "w"]}], ("$[0].x[1]", "z", "w")),
    "true is not one": ({"a": True}, {"a": 1}, ("$.a", True, 1)),
    "a float is not its integer": ([1], [1.0], ("$[0]", 1, 1.0)),
    "kind": ({"a": []}, {"a": {}}, ("$.a", [], {})),
    "tuples are lists": ({"a": (1, 2)}, {"a": [1, 2]}, None),
}


@pytest.mark.parametrize(("recorded", "sent", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_first_difference_of_two_values(recorded: object, sent: object, expected: object) -> None:
    assert first_difference(recorded, sent) == expected


def test_long_texts_are_shown_around_their_first_difference() -> None:
    start = "so far the same words " * 20
    left, right = both_sides(start + "recorded end", start + "sent end" + "!" * 100)
    assert left.startswith("…'")
    assert "recorded end" in left
    assert "sent end" in right
    assert len(right) < 70


def test_other_values_are_cut_to_a_line() -> None:
    left, right = both_sides({"key": list(range(100))}, 3)
    assert len(left) == 60
    assert left.endswith("…")
    assert right == "3"


def test_a_text_and_its_longer_form_differ_at_the_end() -> None:
    left, right = both_sides("x" * 80, "x" * 80 + "yz")
    assert right.endswith("yz'")
    assert left != right


def test_request_helpers_agree_with_what_is_recorded() -> None:
    """Scrubbing takes nothing away that the canonical form needs."""
    request = pocket_request("hi")
    bare = replace(request, headers={}, query={})
    assert digest(pocket(), call_of(request)) == digest(pocket(), call_of(bare))
