"""The page on keeping sessions is tried by following it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from turnproof.session.store import FileStore

from .kit import Echo, typed_texts

PAGE = (Path(__file__).parents[3] / "docs" / "keep-sessions.md").read_text("utf-8")


def test_the_code_on_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"provider": Echo()}
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(code, names)
    store = FileStore("sessions")
    talk, shared = (store.load(number).state for number in (2, 1))
    assert (talk.title, typed_texts(talk)) == ("A talk about words", ["What is a turn?", "And a tool call?"])
    assert [message.text for message in talk.messages][::2] == ["What is a turn?"], "the second turn was taken back"
    assert typed_texts(shared) == ["Hello from the editor", "Hello from the terminal"]
    assert len((tmp_path / "conversations" / "agent-7.jsonl").read_text().splitlines()) == 5


def test_every_name_on_the_page_is_there() -> None:
    import turnproof.session.store as store

    for name in re.findall(r"`(\w+Error)`", PAGE):
        assert hasattr(store, name) or name in ("SavedSessionError", "ResumeError"), name
