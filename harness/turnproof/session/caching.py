"""Who holds a session's cache plugin, and what the session knows of its cached prefix.

On the stateless path the session holds it: it annotates each request, and nothing is set on the provider. A provider
that was given a plugin itself (`set_cache_plugin`) annotates inside its calls, and the session leaves them alone. On
the legacy path, where only the provider sees the whole request, the session gives it the plugin. The bytes on the wire
are the same, and so is what the session measures.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..budget import InstructionBudget
from ..cache import CachePlugin, LossReason, PrefixMonitor
from ..cancel import CancelToken
from ..errors import CacheExpiredError, UsageError
from ..messages import Message, ProviderResponse, ToolSchema
from ..provider import Path, SystemInstruction
from .observer import SessionObserver

_log = logging.getLogger(__name__)


class Caching:
    """A session's own plugin, if it has one, and the monitor of its prefix.

    Raises UsageError for a plugin that is meant for another provider than the session's first.
    """

    def __init__(self, own: CachePlugin | None, provider: object, observer: SessionObserver) -> None:
        if own is not None and not _suits(own, provider):
            raise UsageError(
                f"the cache plugin {own.name!r} is for {own.provider_name!r}, and this provider is "
                f"{getattr(provider, 'name', None)!r}"
            )
        self.monitor = PrefixMonitor()
        self._own = own
        self._in_force: CachePlugin | None = None
        self._budget: InstructionBudget | None = None
        self._observer = observer

    def set_budget(self, budget: InstructionBudget) -> None:
        """Have the plugin in force, and each one after it, know what of the conversation will stay."""
        self._budget = budget
        if self._in_force is not None:
            self._in_force.set_budget(budget)

    def for_provider(self, provider: object, path: Path) -> PortCaching:
        """What caching is in the calls of this provider. A plugin that is meant for another one rests meanwhile.

        Raises UsageError where session and provider have a plugin each.
        """
        own = self._own if self._own is not None and _suits(self._own, provider) else None
        own_plugin = getattr(provider, "cache_plugin", None)
        theirs = own_plugin if isinstance(own_plugin, CachePlugin) else None
        if own is not None and theirs is not None and own is not theirs:
            raise UsageError(
                f"two cache plugins would mark the same requests: {own.name!r} of the session and {theirs.name!r} of "
                "the provider; give one of them to one of the two"
            )
        if theirs is None and own is not None and path == "legacy":
            give = getattr(provider, "set_cache_plugin", None)
            if give is not None:
                give(own)
        self._in_force = theirs or own
        if self._in_force is not None and self._budget is not None:
            self._in_force.set_budget(self._budget)
        annotates = theirs is None and path == "stateless"
        return PortCaching(self._in_force, provider, self.monitor, self._observer, annotates=annotates)


class PortCaching:
    """Caching in the calls of one provider: with `plugin`, which the session uses itself if it `annotates`.

    Without a plugin nothing is marked or measured. What a plugin raises outside `prepare` is logged and fails no turn.
    """

    def __init__(
        self,
        plugin: CachePlugin | None,
        provider: object,
        monitor: PrefixMonitor,
        observer: SessionObserver,
        *,
        annotates: bool,
    ) -> None:
        self._plugin = plugin
        self._provider = provider
        self._monitor = monitor
        self._observer = observer
        self._annotates = annotates

    def annotated(
        self, messages: Sequence[Message], system: SystemInstruction, tools: Sequence[ToolSchema], token: CancelToken
    ) -> tuple[list[Message], SystemInstruction, list[ToolSchema]]:
        """A request in lists of the provider's own, with those marks that are the session's to set."""
        if self._plugin is None or not self._annotates:
            return list(messages), system, list(tools)
        prepared = self._plugin.prepare(list(messages), system, list(tools), cancel_token=token)
        return list(prepared.messages), prepared.system, list(prepared.tools)

    def replaces(self, error: CacheExpiredError) -> bool:
        """Whether the call, made again, would not name the managed cache that the service has lost."""
        if self._plugin is None:
            return False
        # A provider that holds the plugin has told it already.
        return self._plugin.lost(error.name) if self._annotates else True

    def sending(self, messages: Sequence[Message], system: SystemInstruction, tools: Sequence[ToolSchema]) -> None:
        """A call is about to be made; once for each attempt."""
        if self._plugin is not None:
            provider = self._provider
            # Each model has a cache of its own; both paths of one provider have the same.
            to = getattr(provider, "name", None) or type(provider).__name__, getattr(provider, "model_name", None)
            self._monitor.sending(messages, system, tools, covers=self._plugin.covers, to=to)

    def record_response(self, response: ProviderResponse) -> None:
        """The call came back with this response."""
        plugin = self._plugin
        if plugin is None:
            return
        try:
            loss = self._monitor.answered(plugin.extract_usage(response.usage))
        except Exception:
            _log.exception("extract_usage of the cache plugin %r failed", plugin.name)
        else:
            if loss is not None:
                self._observer.on_prefix_lost(loss)

    def collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """The history `before` was collected and is `after` now."""
        self.because("gc")
        plugin = self._plugin
        if plugin is not None:
            try:
                plugin.on_collected(before, after)
            except Exception:  # an observer: the history is collected whether it likes that or not
                _log.exception("on_collected of the cache plugin %r failed", plugin.name)

    def because(self, reason: LossReason) -> None:
        """The history was changed for this reason."""
        self._monitor.because(reason)


def _suits(plugin: CachePlugin, provider: object) -> bool:
    name = getattr(provider, "name", None)
    return not plugin.provider_name or not isinstance(name, str) or name == plugin.provider_name
