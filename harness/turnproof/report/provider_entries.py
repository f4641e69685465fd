"""What a run tells of providers themselves, where they were watched, as entries of its conversation."""

from __future__ import annotations

from typing import TypeAlias

from .._base.counts import counted
from ..run.transcript import Accounts, ProviderAsked, ProviderHolds, ProviderSeen, ProviderTouched

Watching: TypeAlias = ProviderSeen | ProviderTouched | ProviderHolds | ProviderAsked | Accounts


def provider_entry(event: Watching) -> tuple[str, str]:
    """A label, and the text under it."""
    match event:
        case ProviderSeen():
            methods = f"; it has {', '.join(event.methods)}" if event.methods else ""
            return f"provider {event.how}: {event.cls}", f"complete(): {'yes' if event.complete else 'no'}{methods}"
        case ProviderTouched():
            return f"provider.{event.name} was {event.how} during {event.during}", ""
        case ProviderHolds():
            places = [*event.messages, *(f"the cache plugin: {place}" for place in event.plugins)]
            return f"what {event.cls} holds after the {event.after}", "\n".join(places) or "no messages"
        case ProviderAsked():
            return f"asked of the provider, {event.what}: {event.outcome}", event.said
        case Accounts():
            usage = counted(event.usage.total_tokens, "token") if event.usage is not None else "no usage shown"
            turns = counted(event.turns, "turn") if event.turns is not None else "no turns shown"
            return f"the session's account {event.at} the reset", f"{usage}; {turns}"
