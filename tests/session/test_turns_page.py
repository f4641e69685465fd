"""The page on turns is tried by following it."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from turnproof.session import Approval, Enriched, Session

from .fakes import FakeStateless, reply

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "turns.md").read_text("utf-8")


def test_every_example_on_the_page_of_turns_runs() -> None:
    names: dict[str, Any] = {
        "provider": FakeStateless(reply("Done."), reply("Bed 3."), reply("Monday: dry.")),
        "window": SimpleNamespace(add=lambda piece: None, remove=lambda text: None),
        "tools": (),
        "approve": lambda call, token: Approval(True),
        "show": lambda piece: None,
        "survey": lambda args, token: "wet",
        "fill_in": Enriched,
        "look_up": Enriched,
    }
    examples = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(examples) == 8
    for example in examples:
        exec(example, names)
    assert names["result"].text == "Done."
    message = names["provider"].requests[1].messages[-1]
    assert message.text == "Which bed is dry?beds.txt: bed 3 is dry"


def test_every_name_of_a_session_on_the_page_exists() -> None:
    named = set(re.findall(r"session\.(\w+)", PAGE)) - {"session"}
    assert {"stop", "interject", "inject", "announce", "typed"} <= named
    assert named - {"Session"} <= set(dir(Session))
