"""The examples of `docs/cache-plugins.md` do what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from session.fakes import FakeStateless, reply

from cache.plugins import Marker
from turnproof.messages import ProviderResponse, TokenUsage

PAGE = (Path(__file__).parents[2] / "docs" / "cache-plugins.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


class Provider(FakeStateless):
    """Answers whatever is asked; of each prompt 500 tokens were cached before, and 100 are new."""

    def __init__(self) -> None:
        usage = TokenUsage(600, 2, 602, cache_read_tokens=500, cache_creation_tokens=100)
        answer = reply("41 %")
        super().__init__(*[ProviderResponse(answer.parts, usage, answer.finish_reason)] * 2)
        self.cache_plugin: Any = None

    def set_cache_plugin(self, plugin: Any) -> None:
        self.cache_plugin = plugin


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"provider": Provider(), "rules": "You keep a log. " * 50, "tools": (), "plugin": Marker()}
    code = "from turnproof.cache import ExplicitCachePlugin\nfrom turnproof.session import Session\n" + EXAMPLES[number]
    exec(compile(code, f"example {number}", "exec"), names)
    shown = capsys.readouterr().out
    assert re.fullmatch([r"500\n", "", r"turn 1: \d+ tokens again because of system\n"][number], shown)


def test_every_reason_and_every_figure_is_on_the_page() -> None:
    from typing import get_args

    from turnproof.cache import LossReason
    from turnproof.report.cache_economics import TurnEconomics

    for word in (*get_args(LossReason), "read", "written", "fresh", "again"):
        assert f"`{word}`" in PAGE, word
    assert {"read", "written", "fresh", "again"} <= set(TurnEconomics.__struct_fields__)
