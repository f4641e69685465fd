"""Sessions that hold up a turn for a slow tool, stop the tool, or lose what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import ToolResult
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("background-tool-is-waited-for")
class BackgroundToolIsWaitedFor(BrokenSession):
    """No tool goes on in the background: the turn waits for each."""

    def open_handle(self, setup: SessionSetup) -> Any:
        patient = tuple(replace(tool, background_after=None) for tool in setup.tools)
        return super().open_handle(replace(setup, tools=patient))


@suite_mutant("background-tool-ends-with-its-turn")
class BackgroundToolEndsWithItsTurn(BrokenSession):
    """The end of a turn cancels the tools that it has started."""

    def open_handle(self, setup: SessionSetup) -> Any:
        self.started: list[CancelToken] = []
        return super().open_handle(replace(setup, tools=tuple(map(self._watched, setup.tools))))

    def _watched(self, tool: Tool) -> Tool:
        def run(arguments: dict[str, Any], token: CancelToken) -> Any:
            own = CancelToken()
            token.on_cancel(own.cancel)
            self.started.append(own)
            return tool.run(arguments, own)

        return replace(tool, run=run)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        try:
            return super().send(text, turn)
        finally:
            for token in self.started:
                token.cancel()


class _Telling(BrokenSession):
    def background(self) -> Sequence[ToolResult]:
        """What the inner session tells of tools in the background."""
        return [self.change_result(one) for one in self.do("background")]

    def change_result(self, result: ToolResult) -> ToolResult:
        """Another result."""
        return result


@suite_mutant("background-result-is-lost")
class BackgroundResultIsLost(_Telling):
    """What a tool returns in the background is dropped."""

    def background(self) -> Sequence[ToolResult]:
        return []


@suite_mutant("background-result-of-another-call")
class BackgroundResultOfAnotherCall(_Telling):
    """What a tool returns in the background is put under another call."""

    def change_result(self, result: ToolResult) -> ToolResult:
        return ToolResult("call_1", result.name, result.result, result.is_error, result.attachments)


@suite_mutant("background-result-is-the-handle")
class BackgroundResultIsTheHandle(_Telling):
    """What is kept is the handle that answered the call, and not what the tool returned."""

    def change_result(self, result: ToolResult) -> ToolResult:
        return ToolResult(result.call_id, result.name, {"status": "done"})
