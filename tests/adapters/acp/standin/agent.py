"""The agent: what it answers to the requests of a client."""

from __future__ import annotations

import argparse
import json
import subprocess
import threading
import uuid
from collections.abc import Iterator
from typing import Any

from . import VERSION
from .blocks import api_block, text_block
from .model import Model
from .session import Session, Stopped
from .store import Store
from .tools import Served
from .turn import INTERRUPTED, Turn
from .wire import Refused, Wire


class Agent:
    """One run of the program."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.wire = Wire(garbage=options.garbage)
        self.store = Store()
        self.sessions: dict[str, Session] = {}

    def run(self) -> None:
        if self.options.orphan:
            child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL)
            (self.store.folder.parent / "orphan").write_text(str(child.pid))
        for message in self.wire.requests():
            if self.options.mute:
                continue
            if "id" not in message:
                session = self.sessions.get(message["params"]["sessionId"])
                if session is not None:
                    session.cancel()
            elif message["method"] == "session/prompt":
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()
            else:
                self.answer(message)
        if self.options.deaf:
            threading.Event().wait()
        for session in self.sessions.values():
            session.cancel()
            session.close()

    def answer(self, message: dict[str, Any]) -> None:
        self.wire.answer(message["id"], lambda: self.found(message["method"], message.get("params") or {}))

    def found(self, method: str, params: dict[str, Any]) -> Iterator[Any]:
        """The answer to a request, and behind it what is to be done after that."""
        name = "on_" + method.removeprefix("session/")
        known = not self.options.bare or name in ("on_initialize", "on_new", "on_prompt")
        if not known or not hasattr(self, name):
            raise Refused(-32601, "Method not found")
        yield from getattr(self, name)(**{key: value for key, value in params.items() if value is not None})

    # -- sessions

    def on_initialize(self, **_: Any) -> Iterator[Any]:
        own: dict[str, Any] = {"promptCapabilities": {"image": not self.options.bare}}
        if not self.options.bare:
            own["loadSession"] = not self.options.resume_only
            own["sessionCapabilities"] = {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}}
        info = {"name": "standin", "version": VERSION}
        yield {"protocolVersion": 1, "agentCapabilities": own, "agentInfo": info, "authMethods": []}

    def on_new(self, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        record = {"sessionId": str(uuid.uuid4()), "cwd": cwd, "title": "", "messages": []}
        session = self.opened(record, mcpServers, _meta)
        yield {"sessionId": record["sessionId"]}
        if self.options.stray:
            yield lambda: session.update("agent_message_chunk", content=text_block("Welcome!"))

    def opened(self, record: dict[str, Any], servers: list[Any], meta: Any) -> Session:
        system = "" if self.options.no_system else (meta or {}).get("systemPrompt") or ""
        before = self.sessions.get(record["sessionId"])
        if before is not None:
            before.close()
        session = Session(self.wire, record, system, [Served(config) for config in servers])
        self.sessions[record["sessionId"]] = session
        return session

    def known(self, number: str, cwd: str) -> dict[str, Any]:
        record = self.store.read(number)
        if record is None or record["cwd"] != cwd:
            raise Refused(-32002, f"Resource not found: {number}", {"uri": number})
        return record

    def on_resume(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        self.opened(self.known(sessionId, cwd), mcpServers, _meta)
        yield {}

    def on_load(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        if self.options.resume_only:
            raise Refused(-32601, "Method not found")
        session = self.opened(self.known(sessionId, cwd), mcpServers, _meta)
        if self.options.late:
            yield {}
            yield lambda: self.replay(session)
        else:
            self.replay(session)
            yield {}

    def on_fork(self, sessionId: str, cwd: str, mcpServers: list[Any], _meta: Any = None) -> Iterator[Any]:  # noqa: N803
        record = {**self.known(sessionId, cwd), "sessionId": str(uuid.uuid4())}
        self.store.write(record)
        self.opened(record, mcpServers, _meta)
        yield {"sessionId": record["sessionId"]}

    def on_close(self, sessionId: str) -> Iterator[Any]:  # noqa: N803
        session = self.sessions.pop(sessionId, None)
        if session is None:
            raise Refused(-32002, "Resource not found")
        session.close()
        yield {}

    def on_delete(self, sessionId: str) -> Iterator[Any]:  # noqa: N803
        if not self.store.delete(sessionId):
            raise Refused(-32002, f"Resource not found: {sessionId}")
        yield {}

    def on_list(self, cwd: str | None = None, cursor: str | None = None) -> Iterator[Any]:
        # By their ids, which say nothing of time.
        every = [one for one in self.store.all() if cwd is None or self.options.every_folder or one["cwd"] == cwd]
        begin = int(cursor or 0)
        end = begin + self.options.page
        rows = [
            {**{name: one[name] for name in ("sessionId", "cwd", "title")}, "updatedAt": one["updatedAt"]}
            for one in every[begin:end]
        ]
        yield {"sessions": rows, **({"nextCursor": str(end)} if end < len(every) else {})}

    def replay(self, session: Session) -> None:
        for number, message in enumerate(session.record["messages"]):
            for block in message["content"]:
                match block:
                    case {"type": "text", "text": text} if text != INTERRUPTED:
                        kind = "user_message_chunk" if message["role"] == "user" else "agent_message_chunk"
                        session.show_text(kind, text, f"old-{number}")
                    case {"type": "thinking", "thinking": text}:
                        session.show_text("agent_thought_chunk", text, f"old-{number}")
                    case {"type": "tool_use"}:
                        session.show_call(block, block["input"])
                    case {"type": "tool_result"}:
                        session.show_result(block)

    # -- turns

    def on_prompt(self, sessionId: str, prompt: list[dict[str, Any]]) -> Iterator[Any]:  # noqa: N803
        session = self.sessions.get(sessionId)
        if session is None:
            raise Refused(-32603, "Internal error", {"details": "Session not found"})
        session.busy = True
        session.cancelled.clear()
        number = self.store.count()
        if self.options.hang == number:
            threading.Event().wait()
        if self.options.refuse:
            error = json.loads(self.options.refuse)
            raise Refused(error["code"], error["message"], error.get("data"))
        if session.lost_count or self.options.silent:
            session.lost_count = False
            session.busy = False
            if self.options.counts:
                session.update("usage_update", used=2968, size=258400)
            yield {"stopReason": "end_turn"}
            return
        if self.options.long:
            commands = [{"name": "x", "description": "y" * self.options.long}]
            session.update("available_commands_update", availableCommands=commands)
        session.record["title"] = session.record["title"] or next((one["text"] for one in prompt if "text" in one), "")
        session.record["messages"].append({"role": "user", "content": [api_block(one) for one in prompt]})
        self.store.write(session.record)
        model = Model(session, self.options, dies=self.options.die == number)
        turn = Turn(session, model)
        try:
            stop = turn.run()
        except Stopped:
            stop = "cancelled"
            turn.interrupted()
            session.lost_count = self.options.off_by_one
        finally:
            self.store.write(session.record)
            session.busy = False
        yield {"stopReason": stop, "usage": model.usage}
