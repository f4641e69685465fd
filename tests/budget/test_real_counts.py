"""The declared error, held against what the real services counted of the conversations that were recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recordings.apis import ANTHROPIC, GEMINI, Api
from recordings.material import Recording
from shared_material import recordings_dir

from turnproof.budget import InstructionBudget, within_error
from turnproof.dialects.base import Call, WireAnswer, World
from turnproof.messages import FunctionCall, Message, Text, TokenUsage, ToolResult, same_history


@dataclass(frozen=True)
class Continued:
    """A call that was counted, its answer, and the next call of the same conversation."""

    call: Call
    answer: WireAnswer
    usage: TokenUsage
    following: Call
    counted: int

    @property
    def system(self) -> str:
        return "\n".join(part.text for part in self.call.system if isinstance(part, Text))

    @property
    def added(self) -> Sequence[Message]:
        rest = self.following.messages[len(self.call.messages) :]
        return rest[1:] if rest and rest[0].role == "model" else rest

    @property
    def is_plain(self) -> bool:
        """Whether only the ruler can be wrong: nothing but text and tools, and the same settings."""
        messages = [*self.following.messages, Message("model", self.answer.parts)]
        return (
            bool(self.added)
            and not self.usage.thinking_tokens
            and (self.call.system, self.call.tools, self.call.model)
            == (self.following.system, self.following.tools, self.following.model)
            and same_history(self.call.messages, self.following.messages[: len(self.call.messages)], ids=False)
            and all(
                isinstance(part, Text | FunctionCall)
                or (isinstance(part, ToolResult) and isinstance(part.result, str) and not part.attachments)
                for message in messages
                for part in message.parts
            )
        )


def continued(api: Api, recording: Recording) -> Iterator[Continued]:
    before: tuple[Call, WireAnswer, TokenUsage] | None = None
    for exchange in recording.exchanges:
        world = World.with_any_key(api.dialect.models)
        call = api.dialect.parse(exchange.request, world)
        if not isinstance(call, Call) or call.operation != "generate":
            continue
        answer = api.dialect.read_response(exchange.status, exchange.headers, exchange.body)
        if answer.error_kind is not None or answer.usage is None or not answer.usage.prompt_tokens:
            before = None
            continue
        if before is not None:
            yield Continued(*before, following=call, counted=answer.usage.prompt_tokens)
        before = (call, answer, answer.usage)


def test_real_services_count_what_the_budget_expects() -> None:
    folder = recordings_dir()
    plain = [
        pair
        for api in (ANTHROPIC, GEMINI)
        for recording in api.recordings(folder)
        for pair in continued(api, recording)
        if pair.is_plain
    ]
    errors = []
    for pair in plain:
        budget = InstructionBudget()
        budget.frame(pair.system, pair.call.tools)
        budget.sync([*pair.call.messages, Message("model", pair.answer.parts)])
        budget.report(pair.usage)
        expected = budget.get_context_usage(pair.added).used
        assert within_error(expected, pair.counted), (expected, pair.counted)
        errors.append(abs(expected - pair.counted) / pair.counted)
    assert len(errors) >= 15, "too few to say anything"
    assert sorted(errors)[len(errors) // 2] < 0.05, "half of them are much nearer than that"
