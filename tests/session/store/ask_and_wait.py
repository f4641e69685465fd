"""A process that asks a service and waits for its answer in the background until somebody kills it.

`python -m tests.session.store.ask_and_wait MODULE:CLASS MODEL PATH BASE_URL FOLDER WORDS`
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from turnproof.background_answers import BackgroundPolicy
from turnproof.messages import ToolSchema
from turnproof.session import Session, Tool
from turnproof.session.store import FileStore, KeptSession

FOR_EVER = BackgroundPolicy(poll_seconds=600)


def open_session(provider: str, model: str, path: Any, base_url: str, policy: BackgroundPolicy) -> Session:
    """A session at the service; its tool says what it looked at."""
    module, _, name = provider.partition(":")
    opened = getattr(importlib.import_module(module), name)()
    opened.initialize({"api_key": "key", "base_url": base_url})
    opened.connect(model)
    look = Tool(ToolSchema("look", "Look at a bed.", {"type": "object", "properties": {}}), lambda args, token: "seen")
    return Session(opened, path=path, tools=[look], background=policy)


def opened_in(session: Session, folder: str) -> KeptSession:
    """The stored session, new or as an earlier process left it."""
    store = FileStore(folder)
    known = [info.session_id for info in store.list_sessions().sessions]
    return store.resume(session, "s") if known else store.create(session, session_id="s")


if __name__ == "__main__":
    provider, model, path, base_url, folder, words = sys.argv[1:]
    with opened_in(open_session(provider, model, path, base_url, FOR_EVER), folder) as kept_session:
        if words == "take-up":
            kept_session.take_up()
        else:
            kept_session.send(words)
