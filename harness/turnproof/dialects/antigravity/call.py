"""A call of the gateway: one of the Gemini API, and who asks for it from where."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..base import Call, Refusal
from ..gemini.surfaces import GeminiCall, Surface
from .accounts import Account


@dataclass(frozen=True, slots=True)
class AntigravityCall(GeminiCall):
    """`body` is what stood in the envelope's `request`, or the body of a request that has none.

    `host` names the host that was asked, as its base address does (empty where it does not), `verb` is the gateway's
    word for what is wanted. `account` is whose token was sent; None where nobody's was. `doubts` are what the reader of
    the body would perhaps have refused.
    """

    surface: Surface = Surface.CLOUD_CODE
    version: str = "v1internal"
    host: str = ""
    verb: str = ""
    project: str = ""
    account: Account | None = None
    doubts: tuple[Refusal, ...] = ()

    @classmethod
    def of(cls, call: Call) -> AntigravityCall:
        """A call of this dialect as what it is. A plain one counts as nobody's."""
        if isinstance(call, cls):
            return call
        return cls(**{each.name: getattr(call, each.name) for each in fields(Call)})
