"""The sessions that turnproof keeps in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import Message
from ...provider import Binding, Endpoint, OnChunk
from ...run.bindings import resolve_binding
from ...session import Session
from ...session.persistence import Connection
from ...session.store import FileStore, KeptSession
from ...sessions import SessionCapabilities, SessionInfo, every_session
from .source import Answer, SourceOptions, endpoint_of


class StoreSource:
    """A `FileStore`. Who goes on with one of its sessions is `options.adapter`."""

    def __init__(self, folder: Path, options: SourceOptions, *, needs_key: bool) -> None:
        self.name = f"the store {folder}"
        self._store = FileStore(folder)
        self._options = options
        self._needs_key = needs_key
        self._provider: Any = None
        self._session: KeptSession | None = None

    @property
    def home(self) -> None:
        """The folder, which stands in the name."""
        return None

    @property
    def can(self) -> SessionCapabilities:
        """All that a store can."""
        return SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)

    @property
    def session_id(self) -> str | None:
        """The session that is open."""
        return self._session.session_id if self._session else None

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        """All pages."""
        return list(every_session(self._store, cwd))

    def look(self, info: SessionInfo) -> Sequence[Message]:
        """As it is on the disk, also while somebody has it open."""
        return self._store.load(info.session_id).state.messages

    def enter(self, info: SessionInfo) -> Sequence[Message]:
        """Open it for writing, on a provider of the adapter, with the model that it had there."""
        spec = self._adapter()
        self.close()
        stored = self._store.load(info.session_id).state.connection
        connection = _connection(spec, stored)
        session = Session(self._open_session(spec, connection), path=connection.path)
        self._session = self._store.resume(session, info.session_id)
        system = self._options.system
        if system is not None or connection != stored:
            self._session.change(lambda it: None if system is None else it.set_system(system), connection=connection)
        return session.history.messages

    def enter_last(self, cwd: str) -> str | None:
        """The newest of the folder that can be read."""
        last = self._store.last(cwd)
        if last is None:
            return None
        self.enter(last)
        return last.session_id

    @property
    def is_configured(self) -> bool:
        """A store has no settings."""
        return False

    def enter_configured(self) -> str:
        """Never asked for."""
        raise UsageError(f"no settings name a session of {self.name}")

    def send(self, text: str, token: CancelToken, on_chunk: OnChunk) -> Answer:
        """A turn that is on the disk when this returns."""
        assert self._session is not None, "open a session before you send a prompt"
        result = self._session.send(text, cancel_token=token, on_chunk=on_chunk)
        return Answer(result.text, result.outcome == "cancelled")

    def delete(self, info: SessionInfo) -> None:
        """Its files."""
        self._store.delete(info.session_id)

    def close(self) -> None:
        """Store and release the session that is open."""
        try:
            if self._session is not None:
                self._session.close()
                self._session = None
        finally:
            if self._provider is not None:
                getattr(self._provider, "shutdown", lambda: None)()
                self._provider = None

    def check_adapter(self) -> None:
        """Raises UsageError where nobody can go on with a session: no adapter is named, or it has no key; BindingError
        for a name that is none. Starts nothing."""
        spec = self._adapter()
        self._endpoint(spec, resolve_binding(spec), None)

    def _adapter(self) -> str:
        if self._options.adapter is None:
            raise UsageError("a store has no model: name an adapter with --adapter NAME")
        return self._options.adapter

    def _open_session(self, spec: str, connection: Connection) -> Any:
        binding = resolve_binding(spec)
        opener = binding.opener(connection.path)
        if opener is None:
            raise UsageError(f"{spec!r} is no adapter that a session can be given")
        self._provider = opener(self._endpoint(spec, binding, connection.model))
        return self._provider

    def _endpoint(self, spec: str, binding: Binding, model: str | None) -> Endpoint:
        return endpoint_of(
            spec,
            binding.dialect,
            model or binding.model,
            self._options.base_url or "",
            {**binding.options, **self._options.options},
            needs_key=self._needs_key,
        )


def _connection(spec: str, stored: Connection) -> Connection:
    """The adapter; with the model that the session had there, unless another one is named; on its path, if it can."""
    own, _, model = spec.partition("=")
    binding = resolve_binding(own)
    stored_model = stored.model if stored.provider == binding.name else None
    path = stored.path if binding.opener(stored.path) is not None else "stateless"
    if binding.opener(path) is None:
        path = "legacy"
    return Connection(binding.name, model or stored_model or binding.model, path)
