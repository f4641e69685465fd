"""No key gets into the record of a run, in any form or number of pieces; where the run's own key was found is noted."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

import msgspec
import pytest

from turnproof.run.driver.key_mask import KeyMask
from turnproof.run.transcript import Chunk, Event, Failed, RunEnded, Thinking, WireResponse
from turnproof.wire.emulator.server_run import CANARY_KEY

REAL = "sk-real+0123456789/abcdef"


def chunks(*texts: str, call: int = 0) -> list[Event]:
    return [Chunk(turn=0, call=call, text=text) for text in texts]


def answer(body: str) -> WireResponse:
    return WireResponse(turn=0, call=0, exchange=0, status=200, headers={}, body=body, written=1, ended="completed")


def texts(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Chunk | Thinking)]


@pytest.mark.parametrize(
    "form", [REAL, quote(REAL, safe=""), b64encode(REAL.encode()).decode(), b64encode(f":{REAL}".encode()).decode()]
)
def test_a_real_key_is_masked_in_any_form_and_accuses_nobody(form: str) -> None:
    mask = KeyMask([REAL])
    [event] = mask.events(
        [Failed(turn=0, call=0, scope="call", error="ProviderError", typed=True, message=f"not {form}!")]
    )
    assert form not in msgspec.json.encode(event).decode()
    assert mask.leaks == set()


def test_the_runs_own_key_is_masked_and_told_by_its_place() -> None:
    mask = KeyMask()
    encoded = b64encode(f"key={CANARY_KEY}".encode()).decode()
    events = mask.events([Chunk(turn=2, call=0, text=f"it is {encoded}")])
    assert CANARY_KEY not in repr(events)
    assert texts(events) == ["it is " + texts(events)[0].removeprefix("it is ")]
    assert "[key]" in texts(events)[0]
    end = mask.end(RunEnded(how="completed", leaks=("stdout",)))
    assert end.leaks == ("Chunk in turn 2", "stdout")


@pytest.mark.parametrize("size", [1, 2, 7, len(REAL) - 1])
def test_a_key_in_several_pieces_of_an_answer_is_masked_in_callbacks_and_on_the_wire(size: int) -> None:
    pieces = ["so: ", *[REAL[at : at + size] for at in range(0, len(REAL), size)], " it is"]
    body = "".join(f'data: {{"type":"delta","text":"{piece}"}}\n\n' for piece in pieces)
    events = KeyMask([REAL]).events([answer(body), *chunks(*pieces), *chunks("other call", call=1)])
    assert "".join(texts(events)) == "so: [key] it isother call"
    [response] = [event for event in events if isinstance(event, WireResponse)]
    text = "".join(msgspec.json.decode(line[6:])["text"] for line in response.body.split("\n\n") if line)
    assert text == "so: [key] it is"


def test_two_keys_in_pieces_are_both_masked_and_the_rest_is_kept() -> None:
    pieces = [REAL[:5], REAL[5:] + " and " + REAL[:9], REAL[9:] + "."]
    events = KeyMask([REAL]).events(chunks(*pieces))
    assert texts(events) == ["[key]", " and [key]", "."]


def test_a_text_that_only_begins_like_a_key_is_kept() -> None:
    pieces = chunks(REAL[:10], "and something else")
    assert KeyMask([REAL]).events(pieces) == pieces


def test_a_header_that_is_not_made_for_the_key_is_named_and_its_value_is_not_kept() -> None:
    mask = KeyMask()
    mask.look_at_headers(
        {
            "authorization": f"Bearer {CANARY_KEY}",
            "x-api-key": CANARY_KEY,
            "x-trace": f"caller={CANARY_KEY}",
            "cookie": "session=" + b64encode(f"u:{CANARY_KEY}".encode()).decode(),
            "referer": "http://localhost/?k=" + quote(CANARY_KEY, safe=""),
            "accept": "text/plain",
        },
        turn=1,
    )
    assert mask.leaks == {f"the header {name} in turn 1" for name in ("x-trace", "cookie", "referer")}


def test_the_end_of_a_run_is_masked_too() -> None:
    end = KeyMask([REAL]).end(RunEnded(how="died", detail=f"with {REAL}", stdout=REAL, stderr=quote(REAL, safe="")))
    assert (end.detail, end.stdout, end.stderr, end.leaks) == ("with [key]", "[key]", "[key]", ())


def test_bytes_that_are_no_text_lose_the_key_as_well() -> None:
    mask = KeyMask([REAL])
    assert mask.binary(b"\xff" + REAL.encode() + b"\xfe", "WireResponse in turn 0") == b"\xff[key]\xfe"
    assert mask.leaks == set()
    assert mask.binary(CANARY_KEY.encode(), "WireResponse in turn 0") == b"[key]"
    assert mask.leaks == {"WireResponse in turn 0"}
