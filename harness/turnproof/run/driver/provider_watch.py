"""Watches the providers of a run: what the session uses of them, and what they hold when it is over.

The session is given a stand-in for each of its providers, which passes everything on and puts down what was asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from ...messages import Message
from ...provider import Path
from ..transcript import ProviderHolds, ProviderSeen, ProviderTouched
from .provider_surface import class_name, has_method, legacy_methods, owns_history
from .recorder import Recorder
from .references import MOST, reached

_PLACES = 5
"""So many places that hold something are told of each provider."""

How = Literal["read", "called", "written"]


class ProviderWatch:
    """Puts down what is seen of the providers of one run."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._providers: list[Any] = []
        self._plugins: list[Any] = []
        self._seen_places: set[tuple[object, ...]] = set()

    def hand_over(self, provider: Any, raw: Any = None, path: Path | None = None, refuses: str = "") -> Any:
        """The stand-in for a provider that the session is about to use; one that is watched already is one itself.

        `raw` is the adapter's own object behind it.
        """
        if type(provider) is StandIn:
            return provider
        own = provider if raw is None else raw
        self._providers.append(own)
        self.note_provider(own, "given", path, refuses)
        return StandIn(provider, self.touched)

    def note_provider(self, own: Any, kind: Literal["given", "opened"], path: Path | None, refuses: str = "") -> None:
        """Put down what a provider is, and which others it stands in front of."""
        self._recorder.event(_provider_event(own, kind, path, refuses))
        for one in reached(own):
            if owns_history(one.value):
                self._recorder.event(_provider_event(one.value, "behind", path))

    def plugin(self, cache_plugin: Any) -> Any:
        """A cache plugin that the session is given."""
        self._plugins.append(cache_plugin)
        return cache_plugin

    def touched(self, name: str, kind: How) -> None:
        """The session used something of a provider. What happens outside any operation is turnproof's own doing."""
        recorder = self._recorder
        if not recorder.doing or recorder.probe:
            return
        place = (recorder.turn, recorder.call, recorder.doing, name, kind)
        if place not in self._seen_places:
            self._seen_places.add(place)
            where: dict[str, Any] = {"turn": recorder.turn, "call": recorder.call}
            recorder.event(ProviderTouched(name=name, how=kind, during=recorder.doing, **where))

    def look(self, messages: Sequence[Message]) -> None:
        """The conversation is over: put down what each provider holds of these messages, and of the plugins."""
        message_ids = {message.message_id for message in messages}
        for own in self._providers:
            self._recorder.event(holding(own, "conversation", message_ids, plugins=self._plugins))


class StandIn:
    """Passes everything on to a provider, and tells what was used of it. It says that it is of the provider's class."""

    def __init__(self, provider: Any, touched: Callable[[str, How], None]) -> None:
        object.__setattr__(self, "_StandIn__provider", provider)
        object.__setattr__(self, "_StandIn__touched", touched)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(real_provider(self))

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__" or (name.startswith("__") and name.endswith("__")):
            return object.__getattribute__(self, name)
        provider, touched = real_provider(self), object.__getattribute__(self, "_StandIn__touched")
        found = getattr(provider, name)
        if not callable(found):
            touched(name, "read")
            return found
        if name.startswith("_"):
            touched(name, "read")

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            touched(name, "called")
            return found(*args, **kwargs)

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_StandIn__touched")(name, "written")
        setattr(real_provider(self), name, value)

    def __dir__(self) -> Collection[str]:
        return dir(real_provider(self))


def real_provider(provider: Any) -> Any:
    """The provider that a stand-in stands for; any other object itself."""
    return object.__getattribute__(provider, "_StandIn__provider") if type(provider) is StandIn else provider


def holding(
    own: Any,
    after: Literal["conversation", "call"],
    message_ids: Collection[str],
    *,
    texts: Collection[str] = (),
    plugins: Collection[Any] = (),
) -> ProviderHolds:
    """What a provider holds of messages, of texts, and of plugins."""
    count, places, places_held = 0, [], []
    for one in reached(own):
        count += 1
        if _contains(one.value, message_ids, texts):
            places.append(one.place)
        if any(one.value is plugin for plugin in plugins):
            places_held.append(one.place)
    return ProviderHolds(
        cls=class_name(own),
        after=after,
        looked_at=count,
        whole=count < MOST,
        messages=tuple(places[:_PLACES]),
        plugins=tuple(places_held[:_PLACES]),
    )


def _contains(value: Any, message_ids: Collection[str], texts: Collection[str]) -> bool:
    match value:
        case Message():
            return value.message_id in message_ids
        case str():
            return any(text in value for text in texts)
        case bytes() | bytearray():
            return any(text.encode() in value for text in texts)
    return False


def _provider_event(
    own: Any, kind: Literal["given", "opened", "behind"], path: Path | None, refuses: str = ""
) -> ProviderSeen:
    return ProviderSeen(
        cls=class_name(own),
        how=kind,
        path=path,
        methods=legacy_methods(own),
        complete=has_method(own, "complete"),
        refuses=refuses,
        takes_plugin=has_method(own, "set_cache_plugin"),
    )
