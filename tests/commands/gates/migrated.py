"""An adapter and a session with nothing left of the migration, and the same with one thing left of it each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from turnproof.errors import ContextLimitError
from turnproof.messages import Message, ProviderResponse, TokenUsage, ToolResult
from turnproof.provider import Binding, Endpoint
from turnproof.session.binding import REFERENCE, load_session, open_session, send
from turnproof.session.flag import is_on
from turnproof.session.session import Session
from turnproof.subject import Flag, SessionBinding, SessionReply, SessionSetup, SessionTurn
from turnproof_adapters._open_provider import open_provider
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.anthropic.stateless import AnthropicStateless

# -- adapters ----------------------------------------------------------------------------------------------------------


class OnePath(AnthropicStateless):
    """As it is when the cache plugin is the session's alone."""

    set_cache_plugin = None  # type: ignore[assignment]
    cache_plugin = None


def adapter(name: str, opener: Callable[[Endpoint], Any], **fields: Any) -> Binding:
    """The Anthropic adapter, opened like this on the only path that it has."""
    return replace(ANTHROPIC, name=name, open_stateless=opener, open_legacy=None, declared=(), **fields)


def of(cls: type[AnthropicStateless]) -> Callable[[Endpoint], Any]:
    """Opens a provider of this class."""
    return lambda endpoint: open_provider(cls(), endpoint)


ONE_PATH = adapter("one-path", of(OnePath))

STILL_TAKES_PLUGIN = adapter("still-takes-plugin", of(AnthropicStateless))


class Around:
    """Something around a provider; its own source is all that there is to read."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        answer: ProviderResponse = self.inner.complete(messages, *arguments, **options)
        return answer

    def shutdown(self) -> None:
        self.inner.shutdown()


def around(cls: type[Around]) -> Callable[[Endpoint], Any]:
    """Opens one."""
    return lambda endpoint: cls(open_provider(OnePath(), endpoint))


class WithLeftovers(Around):
    """Two methods were forgotten."""

    def create_session(self, system: object = None, tools: object = None, history: object = None) -> None: ...

    def get_history(self) -> list[Message]:
        return []


WITH_LEFTOVERS = adapter("with-leftovers", around(WithLeftovers))


class KeepsMessages(Around):
    """A second copy of the conversation, for the log."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.log: list[Message] = []

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        self.log.extend(messages[-1:])
        return super().complete(messages, *arguments, **options)


KEEPS_MESSAGES = adapter("keeps-messages", around(KeepsMessages))


class KeepsWords(OnePath):
    """No message is kept, and all that they say: in a function's closure, where no attribute is named for it."""

    def __init__(self) -> None:
        super().__init__()
        texts: list[str] = []
        self.note: Callable[[str], None] = lambda text: texts.append(f"> {text}")

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        for message in messages:
            self.note(message.text)
        return super().complete(messages, *arguments, **options)


KEEPS_WORDS = adapter("keeps-words", of(KeepsWords))

_EVERYTHING: list[Message] = []


class KeepsInModule(OnePath):
    """Not the object holds them, but its module."""

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        _EVERYTHING[:] = messages
        return super().complete(messages, *arguments, **options)


KEEPS_IN_MODULE = adapter("keeps-in-module", of(KeepsInModule))


class KeepsWeakly(OnePath):
    """A memo for as long as somebody else has the message: that is no history."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths: WeakKeyDictionary[Message, str] = WeakKeyDictionary()

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        for message in messages:
            self.lengths[message] = f"{message.text}, {len(message.text)} characters"
        return super().complete(messages, *arguments, **options)


KEEPS_WEAKLY = adapter("keeps-weakly", of(KeepsWeakly))


class Old(WithLeftovers):
    """With three of them it is a provider that owns a history, wherever it stands."""

    def send_message(self, message: str) -> None: ...


BRIDGED = adapter("bridged", lambda endpoint: Around(Old(open_provider(OnePath(), endpoint))))
"""A clean outside, as a binding puts it in front of a provider with messages of its own."""


class Delegated(OnePath):
    """Calls its tools itself: one complete() is a whole run."""

    whole = True

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> ProviderResponse:
        answer, history = super().complete(messages, *arguments, **options), list(messages)
        while self.whole and answer.calls:
            results = (ToolResult(call.id, call.name, "41 %") for call in answer.calls)
            history += [Message("model", answer.parts), Message.tool(*results)]
            answer = super().complete(history, *arguments, **options)
        return answer


class HandsBack(Delegated):
    """Says that it is delegated, and leaves the tools to the caller."""

    whole = False


class Broken(OnePath):
    """Whoever took out the history took out the counter, too."""

    def count_tokens(self, *arguments: Any, **options: Any) -> int:
        return len(self._gone)  # type: ignore[attr-defined]


BROKEN = adapter("broken", of(Broken))
COUNTS_OTHERWISE = adapter("counts-otherwise", of(Broken), retained={"count_tokens": lambda provider: True})


class WithoutLimit(OnePath):
    """What every provider of the protocol has is gone."""

    get_context_limit = None  # type: ignore[assignment]


WITHOUT_LIMIT = adapter("without-limit", of(WithoutLimit))


class ClosesOnce(OnePath):
    """Whoever closes it again gets an error."""

    closed = False

    def initialize(self, config: Mapping[str, Any]) -> None:
        self.closed = False
        super().initialize(config)
        self.closed = False

    def shutdown(self) -> None:
        if self.closed:
            raise RuntimeError("already closed")
        self.closed = True
        super().shutdown()


CLOSES_ONCE = adapter("closes-once", of(ClosesOnce))


def _plugin_that_stays(provider: Any) -> Any:
    assert ANTHROPIC.cache_plugin is not None
    plugin = ANTHROPIC.cache_plugin(provider)
    provider.wrapped.helper = plugin
    return plugin


HOLDS_PLUGIN = adapter("holds-plugin", of(OnePath), cache_plugin=_plugin_that_stays)

# -- sessions ----------------------------------------------------------------------------------------------------------


def session(name: str, **fields: Any) -> SessionBinding:
    """The reference session on the migrated adapter, with another way to do something."""
    return replace(REFERENCE, **{"name": name, "adapter": ONE_PATH, **fields})


MIGRATED = session("migrated")


def _ask(handle: Session) -> None:
    handle.provider.count_tokens([Message.user("How dry is bed 3?")])  # type: ignore[union-attr]


def _then_ask(action: Callable[..., Any]) -> Callable[..., Any]:
    def both(handle: Session, *arguments: Any) -> Any:
        done = action(handle, *arguments)
        _ask(handle)
        return done

    return both


RESET_ASKS = session("reset-asks", reset=_then_ask(Session.reset))
SAVE_ASKS = session("save-asks", save=_then_ask(Session.save))
COLLECTION_ASKS = session("collection-asks", collect=_then_ask(Session.collect))


def _context_by_asking(handle: Session) -> int:
    _ask(handle)
    return 1


BUDGET_ASKS = session("budget-asks", context=_context_by_asking)


def _load_and_ask(setup: SessionSetup, saved: str) -> Session:
    handle = load_session(setup, saved)
    _ask(handle)
    return handle


RESTORE_ASKS = session("restore-asks", load=_load_and_ask)


def _save_with_client(handle: Session) -> str:
    assert handle.provider._client is not None  # type: ignore[union-attr]
    return handle.save()


SAVE_LOOKS_INSIDE = session("save-looks-inside", save=_save_with_client)


def _send_and_note(handle: Session, content: Any, turn: SessionTurn) -> SessionReply:
    reply = send(handle, content, turn)
    if reply.outcome == "cancelled":
        handle.provider.note = "cancelled"  # type: ignore[union-attr]
    return reply


CANCEL_NOTES = session("cancel-notes", send=_send_and_note, send_parts=_send_and_note)


class Cutter:
    """Between session and provider: asks the provider how long the prompt was when it was too long."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def complete(self, messages: Sequence[Message], *arguments: Any, **options: Any) -> Any:
        try:
            return self.provider.complete(messages, *arguments, **options)
        except ContextLimitError:
            self.provider.count_tokens(messages)
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.provider, name)


def _with_cutter(setup: SessionSetup) -> Session:
    return open_session(replace(setup, open_provider=lambda path: Cutter(setup.open_provider(path)), cache_plugin=None))


OVERFLOW_ASKS = session("overflow-asks", open=_with_cutter)

_last_usages: WeakKeyDictionary[Session, TokenUsage] = WeakKeyDictionary()


def _stale_usage(handle: Session) -> TokenUsage:
    if handle.usage.total_tokens:
        _last_usages[handle] = handle.usage
    return _last_usages.get(handle, handle.usage)


RESET_KEEPS_USAGE = session("reset-keeps-usage", usage=_stale_usage)

_turns: WeakKeyDictionary[Session, list[TokenUsage]] = WeakKeyDictionary()


def _counting(handle: Session, content: Any, turn: SessionTurn) -> SessionReply:
    reply = send(handle, content, turn)
    _turns.setdefault(handle, []).append(handle.usage)
    return reply


def _counted(handle: Session) -> list[TokenUsage]:
    return _turns.get(handle, [])


def _reset_with_count(handle: Session) -> None:
    handle.reset()
    _turns.pop(handle, None)


COUNTS_TURNS = session(
    "counts-turns", send=_counting, send_parts=_counting, accounting=_counted, reset=_reset_with_count
)
RESET_KEEPS_TURNS = replace(COUNTS_TURNS, name="reset-keeps-turns", reset=Session.reset)
SHOWS_NO_ACCOUNT = session("shows-no-account", usage=None)


def _polite(setup: SessionSetup) -> Session:
    polite = " Be kind." if is_on(Flag(default=True)) else ""
    return open_session(replace(setup, system=f"{setup.system}{polite}"))


READS_FLAG = session("reads-flag", open=_polite)


def _opens_its_own(setup: SessionSetup) -> SessionSetup:
    def open_one_path(path: str) -> Any:
        return setup.watch(open_provider(OnePath(), setup.endpoint))

    return replace(setup, path="stateless", open_provider=open_one_path, cache_plugin=None)


SHOWS_ITS_OWN = session(
    "shows-its-own",
    open=lambda setup: open_session(_opens_its_own(setup)),
    load=lambda setup, saved: load_session(_opens_its_own(setup), saved),
)
"""Opens its provider itself, and shows it."""


def _hides_its_own(setup: SessionSetup) -> SessionSetup:
    return _opens_its_own(replace(setup, watch=lambda provider: provider))


HIDES_ITS_OWN = session(
    "hides-its-own",
    open=lambda setup: open_session(_hides_its_own(setup)),
    load=lambda setup, saved: load_session(_hides_its_own(setup), saved),
    save=None,
)

_second: WeakKeyDictionary[Session, list[Message]] = WeakKeyDictionary()


def _collect_for_show(handle: Session) -> None:
    """Shortens the list that it shows, and goes on sending the other one."""
    _second[handle] = handle.history.messages[-2:]


TWO_LISTS = session(
    "two-lists",
    collect=_collect_for_show,
    history=lambda held: [*_second.get(held, []), *held.history.messages[len(_second.get(held, [])) :]],
)
