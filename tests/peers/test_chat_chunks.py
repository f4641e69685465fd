"""The chunks of a streamed chat completion, added up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from turnproof_adapters.peers.chat_chunks import whole_message


def chunk(finish: str | None = None, **delta: Any) -> SimpleNamespace:
    fields = {"content": None, "refusal": None, "reasoning": None, "extra_content": None, "tool_calls": None} | delta
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**fields), finish_reason=finish)], usage=None)


def piece(index: int, id: str | None, name: str | None, arguments: str) -> SimpleNamespace:
    return SimpleNamespace(index=index, id=id, function=SimpleNamespace(name=name, arguments=arguments))


def test_pieces_of_text_and_of_parallel_calls_come_together() -> None:
    usage = SimpleNamespace(total_tokens=9)
    whole = whole_message(
        [
            chunk(content="Let me "),
            chunk(content="look."),
            chunk(tool_calls=[piece(0, "c1", "read", '{"bed"'), piece(1, "c2", "read", "")]),
            chunk(tool_calls=[piece(1, None, None, '{"bed": 4}'), piece(0, None, None, ": 3}")]),
            chunk(finish="tool_calls"),
            SimpleNamespace(choices=[], usage=usage),
        ]
    )
    assert whole.message.content == "Let me look."
    calls = [(call.id, call.function.name, call.function.arguments) for call in whole.message.tool_calls]
    assert calls == [("c1", "read", '{"bed": 3}'), ("c2", "read", '{"bed": 4}')]
    assert (whole.finish_reason, whole.usage) == ("tool_calls", usage)


def test_a_stream_without_its_end_has_no_finish_reason() -> None:
    assert whole_message([chunk(content="Bed 3 was")]).finish_reason is None
    assert whole_message([]).message.content == ""


def test_a_signature_comes_after_its_thinking() -> None:
    signature = {"anthropic": {"signature": "c2ln"}}
    thinking = [chunk(reasoning=SimpleNamespace(content=text)) for text in ("Dry", "?")]
    whole = whole_message([*thinking, chunk(extra_content=signature), chunk(content="Yes.")])
    assert (whole.message.reasoning, whole.message.extra_content) == ("Dry?", signature)
