"""The binding of a library's agent as a session: a class with a method for each thing that it can do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from turnproof.provider import Binding
from turnproof.reproducer import SessionReproducer
from turnproof.subject import SessionBinding


def bind_agent(
    name: str, conversation: type[Any], *, wire: Binding, reproducer: SessionReproducer | None = None
) -> SessionBinding:
    """A `SessionBinding` that opens `conversation`, a class that is made with a `SessionSetup`.

    Each function of the binding (`send`, `history`, `stop`, `revert`, `load`, ...) is the method of that name. What the
    class has no method for, the session cannot do.

    name: what reports call the session.
    wire: whose API the library speaks; what it claims and the package are those of the session.
    reproducer: how the library's agent is used without turnproof.

    The messages of these libraries have no ids that stay with them, so `message_ids` is False.
    """
    methods = {field.name: getattr(conversation, field.name, None) for field in fields(SessionBinding)}
    return SessionBinding(
        name=name,
        adapter=wire,
        open=conversation,
        message_ids=False,
        capabilities=wire.claims(),
        package=wire.package,
        reproducer=reproducer,
        **{name: method for name, method in methods.items() if callable(method)},
    )
