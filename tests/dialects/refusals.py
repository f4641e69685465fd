"""What a table of refusals is made of: requests, pairs of them, and what each dialect states about its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from turnproof.dialects.base import Call, Refusal, Rule, World
from turnproof.dialects.contract import Dialect

from .requests import Sendable

AnyAsk = TypeVar("AnyAsk", bound=Sendable)


@dataclass(frozen=True)
class Pair(Generic[AnyAsk]):
    """`illegal` is refused by `rule` with exactly these words; `legal` differs as little as can be and is accepted.

    `kind` is the error's code, or its type where it has none. A rule that is not `enforced` is logged, and accepted.
    """

    rule: str
    illegal: AnyAsk
    message: str
    legal: AnyAsk
    status: int = 400
    kind: str = "invalid_request_error"
    enforced: bool = True
    variant: str = ""
    param: str | None = None

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.variant}" if self.variant else self.rule


@dataclass(frozen=True)
class Accepted(Generic[AnyAsk]):
    """A request that the service accepts although one might think otherwise."""

    id: str
    ask: AnyAsk


def find_refusals(dialect: Dialect, sendable: Sendable, world: World) -> list[Refusal]:
    """All refusals of a request, whether it fell at reading or at judging."""
    request = sendable.request()
    found = dialect.parse(request, world)
    return dialect.validate(request, found, world) if isinstance(found, Call) else [found]


def judge_by(dialect: Dialect, world: Callable[[], World]) -> Callable[[Sendable], list[Refusal]]:
    """What a dialect refuses in a request, each time in a fresh world."""
    return lambda request: find_refusals(dialect, request, world())


def message_of(refusal: Refusal) -> str:
    return refusal.message


@dataclass(frozen=True)
class RefusalKit(Generic[AnyAsk]):
    """The rules of one dialect, and the tables that show each of them from both sides.

    `several` is a request that breaks more than one rule, with whether each refusal is enforced, in their order.
    `wrong_key` has a wrong key and a broken body, and falls by `bad_key`. `kinds` are statuses with their kind of
    error; `meanings` are what errors mean, with the status, kind and message of some that mean it.
    """

    dialect: Dialect
    rules: Sequence[Rule]
    pairs: Sequence[Pair[AnyAsk]]
    without_pair: Mapping[str, str]
    judge: Callable[[AnyAsk], list[Refusal]]
    accepted: Sequence[Accepted[AnyAsk]] = ()
    inferred_without_pair: frozenset[str] = frozenset()
    words: Callable[[Refusal], str] = message_of
    several: tuple[AnyAsk, Sequence[bool]] | None = None
    wrong_key: AnyAsk | None = None
    bad_key: Rule | None = None
    kinds: Mapping[int, str] = field(default_factory=dict)
    meanings: Mapping[str | None, Sequence[tuple[int, str | None, str | None]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.dialect.name

    def unprefixed(self, rule: Rule) -> str:
        """The id of a rule within its dialect."""
        return rule.id.removeprefix(f"{self.name}/")
