"""Would SQLite keep what `docs/keep-sessions.md` promises? `python -m tests.session.store.sqlite_trial` measures it.

Turns are rows of one table, each committed on its own (WAL, `synchronous=FULL`), against the store of files: processes
that are killed, bytes that flip, a full disk, and what a turn costs. Power cuts cannot be shown here: they need a file
system of our own under SQLite, and Python's module takes none.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

from turnproof.errors import TurnproofError
from turnproof.messages import Message
from turnproof.session import Session
from turnproof.session.store import FileStore

from .kill import Echo

KILLS, FLIPS, TURNS = 100, 400, 40


def opened(path: Path) -> sqlite3.Connection:
    """A database of one session; every commit is synced."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS turns (number INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    return connection


def body(number: int) -> str:
    return json.dumps({"turn": number, "user": f"question {number} " * 5, "model": f"answer {number} " * 20})


def add(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("INSERT INTO turns VALUES (?, ?)", (number, body(number)))


def killed(folder: Path) -> tuple[int, int]:
    """How many turns were acknowledged before a SIGKILL, and how many of them are gone."""
    acknowledged = lost_count = 0
    for attempt in range(KILLS):
        path, (out, into) = folder / f"{attempt}.db", os.pipe()
        child = os.fork()
        if child == 0:
            connection = opened(path)
            for number in range(10_000):
                add(connection, number)
                os.write(into, b".")
        os.close(into)
        time.sleep(random.uniform(0.005, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        count = 0
        while data := os.read(out, 65536):
            count += len(data)
        os.close(out)
        if count:
            with closing(opened(path)) as connection:
                there = {row[0] for row in connection.execute("SELECT number FROM turns")}
            acknowledged, lost_count = acknowledged + count, lost_count + len(set(range(count)) - there)
    return acknowledged, lost_count


def flips_in_sqlite(folder: Path) -> dict[str, int]:
    """What becomes of single flipped bytes of the database: told, without effect, or other turns without a word."""
    path = folder / "whole.db"
    with closing(opened(path)) as connection:
        for number in range(TURNS):
            add(connection, number)
    true = [(number, body(number)) for number in range(TURNS)]
    data, counts, draw = path.read_bytes(), dict.fromkeys(("told", "no effect", "silent"), 0), random.Random(0)
    for _ in range(FLIPS):
        copy, place = folder / "flipped.db", draw.randrange(len(data))
        copy.write_bytes(data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :])
        try:
            with closing(sqlite3.connect(copy)) as connection:
                rows = connection.execute("SELECT * FROM turns ORDER BY number").fetchall()
                (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            counts["told"] += 1
        else:
            counts["told" if sound != "ok" else "no effect" if rows == true else "silent"] += 1
    return counts


def flips_in_files(folder: Path) -> dict[str, int]:
    """The same for the store of files: both of them, in turn."""
    store = FileStore(folder / "files")
    with store.create(Session(Echo()), session_id="s") as kept_session:
        for number in range(TURNS):
            kept_session.send(f"{number}: " + "question " * 5)
    true = [message.text for message in store.load("s").state.messages]
    counts, draw = dict.fromkeys(("told", "no effect", "silent"), 0), random.Random(0)
    for attempt in range(FLIPS):
        target = folder / "files" / ("s.jsonl", "s.json")[attempt % 2]
        data = target.read_bytes()
        place = draw.randrange(len(data))
        target.write_bytes(data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :])
        try:
            loaded = store.load("s")
            same = [message.text for message in loaded.state.messages] == true
            counts["told" if loaded.problems else "no effect" if same else "silent"] += 1
        except TurnproofError:
            counts["told"] += 1
        target.write_bytes(data)
    return counts


def full_disk(folder: Path) -> str:
    """What is there after a disk was full."""
    path = folder / "full.db"
    with closing(opened(path)) as connection:
        for number in range(TURNS):
            add(connection, number)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        with suppress(sqlite3.OperationalError):
            for number in range(TURNS, 10 * TURNS):
                add(connection, number)
        (count,) = connection.execute("SELECT count(*) FROM turns").fetchone()
    return f"{count} of {TURNS} turns there" if count >= TURNS else f"only {count} of {TURNS} turns there"


def cost(folder: Path, messages: int) -> str:
    """Milliseconds of a turn behind so many messages, in either."""
    with closing(opened(folder / f"cost-{messages}.db")) as connection:
        connection.execute("BEGIN")
        for number in range(messages // 2):
            add(connection, number)
        connection.execute("COMMIT")
        began = time.process_time()
        for number in range(messages, messages + 20):
            add(connection, number)
        in_sqlite = (time.process_time() - began) / 20 * 1000
    session = Session(Echo())
    session.reset([Message.user("word " * 20) for at in range(messages)])
    with FileStore(folder / f"cost-{messages}").create(session, session_id="s") as kept_session:
        kept_session.send("first")
        began = time.process_time()
        for number in range(20):
            kept_session.send(f"{number}: on")
        in_files = (time.process_time() - began) / 20 * 1000
    return f"{messages:>7} messages: {in_sqlite:.2f} ms of CPU a row in SQLite, {in_files:.2f} ms a whole turn in files"


def main() -> int:
    """Print what was found."""
    folder = Path(tempfile.mkdtemp())
    try:
        acknowledged, lost_count = killed(folder)
        print(f"killed {KILLS} times: {acknowledged} acknowledged turns, {lost_count} lost")
        print(f"{FLIPS} flipped bits in SQLite {sqlite3.sqlite_version}: {flips_in_sqlite(folder)}")
        print(f"{FLIPS} flipped bits in the files: {flips_in_files(folder)}")
        print(f"full disk: {full_disk(folder)}")
        for messages in (20, 2_000, 20_000):
            print(cost(folder, messages))
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
