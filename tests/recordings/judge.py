"""What `validate` says of every recorded request, against what the real service said.

Three classes. *Derivable*: the service's decision follows from the request and what the recording has shown so far;
ours must be the same (accepted; or refused with the same status, error type and, numbers masked, message).
*Environmental*: it came from the world outside (key, quota, load, a URL that could not be fetched); the class is
confirmed by status and type, and our rules must not object to the request. *Not honoured*: the recording lacks what
the decision rests on; each is listed with the reason. Nothing here knows any recording by name or content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turnproof.dialects.base import Call, Refusal, WireAnswer, World

from .apis import Api
from .material import Exchange, Recording

Class: TypeAlias = Literal["derivable", "environmental", "not honoured"]


@dataclass(frozen=True)
class Judged:
    """One exchange under judgement. `wrong` says what does not fit; empty where all is well."""

    where: str
    kind: Class
    accepted: bool
    evidence: str = ""
    rule: str = ""
    reason: str = ""
    wrong: str = ""


def judge(recordings: Iterable[Recording], api: Api) -> list[Judged]:
    """Every exchange, with a world of its own for each recording, seeded as the recording goes on."""
    dialect = api.dialect
    found = []
    for recording in recordings:
        models = {**dialect.models, **api.granted(dialect, recording)}
        world = World.with_any_key(models)
        for exchange in recording.exchanges:
            found.append(_judge(exchange, api, world))
            call = dialect.parse(exchange.request, world)
            if isinstance(call, Call):
                dialect.observe(call, exchange.status, exchange.headers, exchange.body, world)
    return found


def refusals(exchange: Exchange, api: Api, world: World) -> list[Refusal]:
    """What we would refuse, enforced or not."""
    call = api.dialect.parse(exchange.request, world)
    return [call] if not isinstance(call, Call) else api.dialect.validate(exchange.request, call, world)


def _judge(exchange: Exchange, api: Api, world: World) -> Judged:
    ours = next((each for each in refusals(exchange, api, world) if each.enforced), None)
    answer = api.dialect.read_response(exchange.status, exchange.headers, exchange.body)
    if reason := api.missing_ground(exchange, ours, answer):
        return Judged(exchange.where, "not honoured", answer.error_kind is None, reason=reason)
    if answer.error_kind is not None and api.from_outside(answer):
        return _environmental(exchange, api, ours, answer)
    return _derivable(exchange, ours, answer)


def _environmental(exchange: Exchange, api: Api, ours: Refusal | None, answer: WireAnswer) -> Judged:
    expected = api.dialect.error_kind(exchange.status)[0] if exchange.status != 200 else answer.error_kind
    wrong = f"we refuse it: {ours.message}" if ours else ""
    if answer.error_kind != expected and answer.error_kind not in api.outside_kinds:
        wrong = f"{exchange.status} came with {answer.error_kind}, we know it as {expected}"
    return Judged(exchange.where, "environmental", False, reason=f"{exchange.status} {answer.error_kind}", wrong=wrong)


def _derivable(exchange: Exchange, ours: Refusal | None, answer: WireAnswer) -> Judged:
    theirs = (exchange.status, answer.error_kind, masked(answer.error_message or ""))
    if answer.error_kind is None:
        return Judged(exchange.where, "derivable", True, wrong=f"we refuse it: {ours.message}" if ours else "")
    if ours is None:
        return Judged(exchange.where, "derivable", False, wrong=f"we accept what was refused with {theirs}")
    our_answer = (ours.status, ours.kind, masked(ours.message))
    wrong = "" if our_answer == theirs else f"they say {theirs}, we say {our_answer}"
    return Judged(exchange.where, "derivable", False, ours.rule.evidence.value, ours.rule.id, wrong=wrong)


def masked(message: str) -> str:
    """A message with its numbers masked."""
    return re.sub(r"\d+", "#", message)


def table(judged: Sequence[Judged]) -> str:
    """The counts for people: classes, accepted and refused apart, refusals by evidence and rule."""
    lines = [f"{'class':<16}{'accepted':>10}{'refused':>10}{'wrong':>8}"]
    for kind in ("derivable", "environmental", "not honoured"):
        of_kind = [each for each in judged if each.kind == kind]
        accepted = sum(each.accepted for each in of_kind)
        wrong = sum(bool(each.wrong) for each in of_kind)
        lines.append(f"{kind:<16}{accepted:>10}{len(of_kind) - accepted:>10}{wrong:>8}")
    by_rule = Counter((each.evidence, each.rule) for each in judged if each.rule)
    lines += ["", "derivable refusals by evidence"]
    lines += [f"  {evidence:<6}{rule:<36}{count:>4}" for (evidence, rule), count in sorted(by_rule.items())]
    by_reason = Counter(each.reason for each in judged if each.kind == "environmental")
    lines += ["", "environmental"]
    lines += [f"  {reason:<42}{count:>4}" for reason, count in sorted(by_reason.items())]
    lines += ["", "not honoured"]
    lines += [f"  {each.where}: {each.reason}" for each in judged if each.kind == "not honoured"]
    return "\n".join(lines)
