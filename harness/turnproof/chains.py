"""Conversations that a service keeps as chains of stored answers: what an application decides about them.

A request names the last stored answer, the *head* of the chain, and has only what is new since. A provider with such a
chain is a `ChainedProvider`; `ChainPolicy` says what it stores, how long it goes on, and what happens when the service
has forgotten it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from .errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPolicy:
    """What a provider does over a service that stores answers. The defaults: store, chain, and begin anew if need be.

    store:       False: nothing is stored, and every request has the whole conversation.
    max_answers: a chain that has so many answers is not continued; the next request has the whole conversation and
                 begins a new one. None for any number.
    max_tokens:  the same for a chain whose requests have cost so many prompt tokens in all.
    forgotten:   when the service no longer has the head: `resend` the whole conversation in a new chain, or `fail` with
                 ChainLostError, which leaves the conversation and the head as they were.
    delete:      whether answers that the conversation no longer continues are deleted at the service.
    """

    store: bool = True
    max_answers: int | None = None
    max_tokens: int | None = None
    forgotten: Literal["resend", "fail"] = "resend"
    delete: bool = False

    def __post_init__(self) -> None:
        for name in ("store", "delete"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"a chain's {name} is True or False, got {getattr(self, name)!r}")
        for name in ("max_answers", "max_tokens"):
            most = getattr(self, name)
            if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
                raise UsageError(f"a chain's {name} is a positive integer, or None for no limit, got {most!r}")
        if self.forgotten not in ("resend", "fail"):
            raise UsageError(f"a chain's forgotten is 'resend' or 'fail', got {self.forgotten!r}")

    def allows(self, state: ChainState) -> bool:
        """Whether a chain in this state may be continued."""
        is_long = self.max_answers is not None and state.answers >= self.max_answers
        is_dear = self.max_tokens is not None and state.prompt_tokens >= self.max_tokens
        return not is_long and not is_dear


@dataclass(frozen=True, slots=True)
class ChainState:
    """A chain as its provider knows it.

    head:          id of the answer that the next request continues; None: it sends the whole conversation.
    answers:       how many answers the chain has.
    prompt_tokens: what its requests have cost in all, those of cancelled answers included.
    """

    head: str | None = None
    answers: int = 0
    prompt_tokens: int = 0


@runtime_checkable
class ChainedProvider(Protocol):
    """A provider of the legacy path whose conversation a service keeps."""

    def set_chain_policy(self, policy: ChainPolicy) -> None:
        """Follow this policy from the next request on."""

    @property
    def chain_state(self) -> ChainState:
        """The chain as it is now."""

    def end_chain(self) -> None:
        """Have the next request send the whole conversation, and begin a new chain with it."""

    def delete_left_answers(self) -> None:
        """Delete at the service what the conversation no longer continues, if the policy says `delete`.

        Raises ProviderError for the first answer that could not be deleted; it and the others are deleted next time.
        """
