"""`docs/bind-your-session.md`: its session has the defect that the page names, and not after the change."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import follow, steps

PAGE = "bind-your-session.md"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_commands_of_the_page_say_what_the_page_says(tmp_path: Path) -> None:
    every = list(steps(PAGE))
    first = next(at for at, step in enumerate(every) if step.file)
    built = every[first:][:5]
    assert [step.file for step in built] == ["my_chat.py", "my_binding.py", "", "my_chat.py", ""]
    follow(built, tmp_path)
