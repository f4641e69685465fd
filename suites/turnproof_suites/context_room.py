"""When a session may leave out some of what was said: a prompt was too long, or the window is known to be small."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof import messages as m
from turnproof.errors import ContextLimitError
from turnproof.judge.view import Exchange, ProviderCall, View


def too_long(exchange: Exchange | None) -> bool:
    """Whether the API's answer says that the prompt does not fit its window."""
    return exchange is not None and exchange.error_meaning == "context-limit"


def makes_room(call: ProviderCall) -> bool:
    """Whether the session may rightly collect history because of this call.

    A request of too many bytes (413) is no prompt of too many tokens, but an adapter may say that less would do.
    """
    raised = {call.failed.error, *call.failed.bases} if call.failed is not None else set()
    return too_long(call.last) or ContextLimitError.__name__ in raised


def outgrew_window(view: View, earlier: Sequence[m.Message], call: ProviderCall) -> bool:
    """Whether the session has left out some of what was said `earlier`, to make room: it was told how much the model
    takes, or an earlier call said that the prompt was too long, be that true or not."""
    before = (one for one in view.calls if one.index < call.index)
    if "context_tokens" not in view.scenario.options and not any(map(makes_room, before)):
        return False
    return not m.same_history(earlier, call.began.messages[: len(earlier)], ids=False)
