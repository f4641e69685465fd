"""Probes of a session that opened its provider itself: what was said is said again, by sessions that hold the same.

A session that can `adopt` a conversation is brought to where it stood before a turn. What it then sends depends on
nothing else: not on what this session, or this provider, was asked before. A history is broken in the same way, as a
user's program may have saved it. Only turns of one text are said again, since a file would have to be given again, too.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from ...cancel import CancelToken
from ...messages import Message, ProviderResponse, Text
from ...scenarios.model import Turn
from ...subject import SessionTurn, Tool
from ..transcript import CallBegan, Response
from .direct_calls import broken_histories
from .tap import failed

if TYPE_CHECKING:
    from .run_session import RunSession

_LIMIT = 20
"""Seconds that children are waited for which are spoken to at the same time."""

_WANTS = {
    "fresh": {"adopt"},
    "reversed": {"adopt"},
    "threads": {"adopt", "spawn", "children_at_once"},
    "broken": {"adopt"},
}
"""What a session has to be able to do for each probe."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What the user said in a turn, and what the session held then."""

    turn: Turn
    began: CallBegan
    tools: tuple[Tool, ...]


class SessionProbes:
    """Notes what is said in the turns of a run, and says it again when they are over."""

    def __init__(self, run: RunSession) -> None:
        self._run = run
        self._recorder = run.recorder
        probes = run.job.scenario.probes if run.subject.kind == "session" else ()
        self._probes = [one for one in probes if one in _WANTS and _WANTS[one] <= run.subject.operations]
        self._prompts: list[_Prompt] = []

    def note(self, index: int, turn: Turn) -> None:
        """A turn is about to begin."""
        match turn.user:
            case (Text(),) if self._probes and self._recorder.session_alone and turn.cancel is None:
                pass
            case _:
                return
        tools, run = self._run.tools.tools, self._run
        began = CallBegan(
            messages=(*run.history(), Message.user(*turn.user)),
            system=run.system,
            tools=tuple(tool.schema for tool in tools),
            round=0,
            streamed=run.streams,
            response_schema=turn.response_schema,
            call=index,
        )
        self._prompts.append(_Prompt(turn, began, tuple(tools)))

    def run_all(self) -> None:
        """Every probe that the scenario asks for and the session can do."""
        if not self._prompts or not self._recorder.session_alone:
            return
        for probe in self._probes:
            self._recorder.probe = probe
            self._recorder.control.ask("probe", probe)
            match probe:
                case "fresh":
                    for prompt in self._prompts:
                        self._on_fresh_session([prompt])
                case "reversed":
                    self._on_fresh_session(self._prompts[::-1])
                case "threads":
                    self._at_once()
                case "broken":
                    self._broken()
        self._recorder.probe = ""
        self._recorder.control.ask("probe", "")

    def _on_fresh_session(self, prompts: Sequence[_Prompt]) -> None:
        handle = self._run.session.open(self._run.setup())
        try:
            for one in prompts:
                self._say_again(handle, one, one.began)
        finally:
            self._close(handle)

    def _broken(self) -> None:
        last = self._prompts[-1]
        for began in broken_histories([last.began]):
            if began.messages and began.messages[-1].role == "user":
                handle = self._run.session.open(self._run.setup())
                try:
                    self._say_again(handle, last, began)
                finally:
                    self._close(handle)

    def _say_again(self, handle: Any, prompt: _Prompt, began: CallBegan) -> None:
        """Take the conversation up where it stood, and say the same. A session that refuses it is asked nothing."""
        session, recorder = self._run.session, self._recorder
        if session.configure is not None:
            session.configure(handle, began.system, prompt.tools)
        if not self._has_adopted(handle, began):
            return
        self._run.tools.begin(prompt.turn)
        where: dict[str, Any] = {"call": began.call, "probe": recorder.probe}
        recorder.event(msgspec.structs.replace(began, probe=recorder.probe))
        recorder.control.ask("call-begins", (began.call, recorder.probe))
        try:
            answer = self._send(handle, began)
        except Exception as error:
            recorder.control.ask("call-ended")
            recorder.event(failed("call", error, recorder.raised(error), **where))
            return
        recorder.control.ask("call-ended")
        recorder.event(Response(response=answer, **where))

    def _has_adopted(self, handle: Any, began: CallBegan) -> bool:
        """Bring a session to where the conversation stood; False where it refuses, which is then on record."""
        assert self._run.session.adopt is not None
        try:
            self._run.session.adopt(handle, began.messages[:-1])
        except Exception as error:
            self._run.refused("adopt", error)
            return False
        return True

    def _send(self, handle: Any, began: CallBegan) -> ProviderResponse:
        """Say the last message, and return what the session made of the answer."""
        session, chunks = self._run.session, list[str]()
        turn = SessionTurn(CancelToken(), chunks.append if began.streamed else None, began.response_schema)
        before = len(self._run.history_of(handle))
        session.send(handle, began.messages[-1].text, turn)
        new = self._run.history_of(handle)[before:]
        return ProviderResponse(next((message.parts for message in new if message.role == "model"), ()))

    def _at_once(self) -> None:
        """Speak to several children of one session at the same time, over the one provider that they share. Only the
        bytes of a request show which child sent it."""
        session, recorder = self._run.session, self._recorder
        assert session.spawn is not None
        if any(len(prompt.turn.rounds) > 1 for prompt in self._prompts):
            return  # what tools return is scripted for one turn at a time
        parent = session.open(self._run.setup())
        children = [session.spawn(parent) for _ in self._prompts]
        try:
            pairs = zip(children, self._prompts, strict=True)
            if all(self._has_adopted(child, prompt.began) for child, prompt in pairs):
                self._speak_to(children)
        finally:
            for handle in (*children, parent):
                self._close(handle)
        recorder.call = -1

    def _speak_to(self, children: Sequence[Any]) -> None:
        recorder = self._recorder
        results: list[ProviderResponse | BaseException | None] = [None] * len(children)
        barrier = threading.Barrier(len(children))

        def speak(position: int) -> None:
            barrier.wait()
            try:
                results[position] = self._send(children[position], self._prompts[position].began)
            except Exception as error:
                results[position] = error

        threads = [threading.Thread(target=speak, args=(n,), daemon=True) for n in range(len(children))]
        recorder.control.ask("call-begins", (-1, recorder.probe))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=_LIMIT)
        recorder.control.ask("call-ended")
        for prompt, result in zip(self._prompts, results, strict=True):
            where: dict[str, Any] = {"call": prompt.began.call, "probe": recorder.probe}
            if isinstance(result, BaseException):
                recorder.event(failed("call", result, recorder.raised(result), **where))
            elif result is not None:
                recorder.event(Response(response=result, **where))

    def _close(self, handle: Any) -> None:
        close = self._run.session.close
        if close is None:
            return
        try:
            close(handle)
        except Exception as error:
            self._run.refused("close", error)
