"""Lines that show every damage: cut at each byte, changed at each byte, lost, repeated, moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turnproof.session.store import StoreFullError
from turnproof.session.store.journal import Journal, Scan, scan, seal

from .simfiles import SimFiles

LOG = Path("/sessions/s.jsonl")
BODIES = (b'{"n":1}', '{"n":2,"text":"né"}'.encode(), b'{"n":3}', b'{"n":4}')
LINES = tuple(seal(seq, body) for seq, body in enumerate(BODIES, 1))
WHOLE = b"".join(LINES)


def bodies(found: Scan) -> tuple[bytes, ...]:
    return tuple(entry.body for entry in found.entries)


def on_disk(data: bytes) -> SimFiles:
    files = SimFiles()
    files.create(LOG).write(data)
    return files


def reopened(files: SimFiles) -> Journal:
    return Journal.open(files, LOG, scan(files.read(LOG), str(LOG)))


def test_a_line_is_json_with_its_number_and_checksum_first() -> None:
    line = LINES[1]
    assert line.endswith(b"\n")
    fields = json.loads(line)
    assert list(fields)[:2] == ["seq", "crc"]
    assert fields == {"seq": 2, "crc": fields["crc"], "n": 2, "text": "né"}


def test_what_was_written_is_read() -> None:
    found = scan(WHOLE, "log")
    assert bodies(found) == BODIES
    assert found.problems == ()
    assert (found.last_seq, found.end, found.torn) == (4, len(WHOLE), b"")
    assert [(entry.line, WHOLE[entry.offset : entry.offset + 2]) for entry in found.entries] == [
        (line, b'{"') for line in range(1, 5)
    ]


def test_cut_at_any_byte_all_whole_records_survive_and_nothing_fuses() -> None:
    for size in range(len(WHOLE) + 1):
        whole = sum(len(b"".join(LINES[: n + 1]).rstrip()) <= size for n in range(4))
        files = on_disk(WHOLE[:size])
        found = scan(files.read(LOG), str(LOG))
        assert bodies(found) == BODIES[:whole]
        journal = Journal.open(files, LOG, found)
        journal.append([b'{"n":5}'])
        again = scan(files.read(LOG), str(LOG))
        assert bodies(again) == (*BODIES[:whole], b'{"n":5}')
        assert again.problems == ()
        fragments = [files.read(LOG.with_name(name)) for name in files.names(LOG.parent) if ".spoiled-" in name]
        assert b"".join(fragments) == found.torn
        assert bool(found.problems) == bool(found.torn)


def test_any_changed_byte_is_told_with_its_line_and_the_rest_is_read() -> None:
    for at in range(len(WHOLE) - 1):
        data = bytearray(WHOLE)
        data[at] ^= 0x01
        found = scan(bytes(data), "log")
        line = WHOLE[:at].count(b"\n")
        spoiled = {line, line + 1} if WHOLE[at : at + 1] == b"\n" else {line}
        assert bodies(found) == tuple(body for n, body in enumerate(BODIES) if n not in spoiled)
        assert found.problems[0].line == line + 1
        assert found.problems[0].offset == len(b"".join(LINES[:line]))


def test_a_problem_says_where_and_what() -> None:
    damaged = LINES[0] + LINES[1].replace(b"n", b"m", 1) + LINES[2]
    (problem,) = scan(damaged, "s.jsonl").problems
    assert str(problem) == f"s.jsonl: line 2 (byte {len(LINES[0])}): the record does not match its checksum"


@pytest.mark.parametrize(
    ("lines", "read", "reason"),
    [
        ((0, 3), (0, 3), "records 2 to 3 are missing before this one"),
        ((0, 1, 3), (0, 1, 3), "record 3 is missing before this one"),
        ((0, 1, 1, 2), (0, 1, 2), "record 2 comes again, behind record 2"),
        ((0, 2, 1, 3), (0, 2, 3), "record 2 is missing before this one"),
    ],
    ids=["some-lost", "lost", "repeated", "moved"],
)
def test_lost_repeated_and_moved_lines_show(lines: tuple[int, ...], read: tuple[int, ...], reason: str) -> None:
    found = scan(b"".join(LINES[n] for n in lines), "log")
    assert bodies(found) == tuple(BODIES[n] for n in read)
    assert found.problems[0].reason == reason


def test_damage_in_the_middle_stays_where_it_is_and_numbers_go_on() -> None:
    damaged = LINES[0] + b"\x00\xff garbage\n" + LINES[2]
    files = on_disk(damaged)
    reopened(files).append([b'{"n":4}'])
    assert files.read(LOG) == damaged + LINES[3]


def test_garbage_at_the_end_is_kept_beside_each_time_under_another_name() -> None:
    files = on_disk(WHOLE + b"\x00" * 10)
    reopened(files)
    files.append_to(LOG).write(b"more")
    reopened(files)
    assert files.read(LOG) == WHOLE
    assert files.read(LOG.with_name("s.jsonl.spoiled-1")) == b"\x00" * 10
    assert files.read(LOG.with_name("s.jsonl.spoiled-2")) == b"more"


def test_nothing_is_cut_off_before_it_is_safe_elsewhere() -> None:
    files = on_disk(WHOLE + b"torn")
    files.full_at = files.operations
    with pytest.raises(StoreFullError):
        reopened(files)
    assert files.read(LOG) == WHOLE + b"torn"


def test_several_records_are_appended_together_or_not_at_all() -> None:
    files = on_disk(WHOLE)
    journal = reopened(files)
    files.full_at, files.full_for = files.operations + 2, 1
    with pytest.raises(StoreFullError):
        journal.append([b'{"n":5}', b'{"n":6}'])
    assert journal.seq == 4
    assert files.read(LOG) == WHOLE
    journal.append([b'{"n":5}'])
    assert bodies(scan(files.read(LOG), "log")) == (*BODIES, b'{"n":5}')


def test_records_without_sync_are_safe_with_the_next_one_that_syncs() -> None:
    files = on_disk(WHOLE)
    files.append_to(LOG).sync()
    files.sync_folder(LOG.parent)
    journal = reopened(files)
    journal.append([b'{"n":5}'], sync=False)
    assert files.after(luck=False).read(LOG) == WHOLE
    journal.append([b'{"n":6}'])
    assert bodies(scan(files.after(luck=False).read(LOG), "log"))[-2:] == (b'{"n":5}', b'{"n":6}')


def test_lines_of_another_program_are_read_only_where_they_are_expected() -> None:
    data = b'{"type":"user"}\r\n{"type":"claude"}\n' + LINES[0]
    assert bodies(scan(data, "log", foreign=True)) == (b'{"type":"user"}', b'{"type":"claude"}', BODIES[0])
    assert bodies(scan(data, "log")) == (BODIES[0],)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\n\n", b"{}", b"\x00" * 100, b"{" * 10_000, b'{"seq":0,"crc":"00000000",']
)
def test_what_is_no_log_has_no_records(data: bytes) -> None:
    found = scan(data, "log")
    assert found.entries == ()
    assert found.torn == data
