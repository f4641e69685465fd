"""When is a request the recorded one: by digest of its canonical form, and if not, where the two part.

The canonical form is the dialect's (`match_form`: model, system text, tools, messages) and the operation, so that
counting the tokens of a conversation is not taken for continuing it. An answer that the service did not keep is none to
a request that wants it kept: a later one could not go on from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import msgspec

from ...dialects.base import Call, Refusal, World
from ...dialects.contract import Dialect
from ...dialects.unlisted_models import AnyModel
from ...messages import JSON
from .model import Interaction, Place, RecordedRequest, how_to_record
from .scrub import unscrub_request

_canonical = msgspec.json.Encoder(order="sorted").encode

WIDTH = 60
"""Characters of either side that a message shows."""


class Absent:
    """What stands on a side that has nothing at the place of a difference."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = Absent()


def canonical(dialect: Dialect, call: Call) -> JSON:
    """What two requests must share to be the same."""
    form = {"operation": call.operation, "form": dialect.match_form(call)}
    return form | {"kept": True} if call.kept_answer else form


def digest(dialect: Dialect, call: Call) -> str:
    """32 hexadecimal digits, equal for requests of the same canonical form whatever the order of keys on the wire."""
    return digest_of(canonical(dialect, call))


def digest_of(form: JSON) -> str:
    """The digest of a canonical form."""
    return blake2b(_canonical(form), digest_size=16).hexdigest()


def read_recorded(dialect: Dialect, recorded: RecordedRequest) -> Call | Refusal:
    """A recorded request in neutral form; its key was scrubbed, so any is good enough."""
    world = World.with_any_key(AnyModel(dialect.models))
    return dialect.parse(unscrub_request(recorded), world)


def first_difference(recorded: JSON, current: JSON, path: str = "$") -> tuple[str, JSON, JSON] | None:
    """JSON path and both values of the first place where two JSON values differ, or None.

    Objects are compared by sorted key, so that the answer does not depend on the order on the wire; a member that one
    side lacks is `ABSENT` there.
    """
    if isinstance(recorded, dict) and isinstance(current, dict):
        for key in sorted({*recorded, *current}):
            found = first_difference(recorded.get(key, ABSENT), current.get(key, ABSENT), f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(recorded, list | tuple) and isinstance(current, list | tuple):
        for number in range(max(len(recorded), len(current))):
            a = recorded[number] if number < len(recorded) else ABSENT
            b = current[number] if number < len(current) else ABSENT
            found = first_difference(a, b, f"{path}[{number}]")
            if found:
                return found
        return None
    # In Python 1, 1.0 and True are equal; in the text that is digested they are not.
    if recorded == current and _canonical(recorded) == _canonical(current):
        return None
    return path, recorded, current


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A request that the cassette has no answer for. Inconclusive by itself: only a check calls it a violation.

    `number` counts the requests asked of the player, from 1. `path`, `recorded` and `sent` show the first difference
    from the recorded request that stands nearest; `reason` is set where there is more, or nothing, to compare.
    """

    adapter: str
    scenario: str
    number: int
    place: Place | None
    path: str
    recorded: JSON
    sent: JSON
    reason: str = ""

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """All of it in one line."""
        what, sides, advice = self._explanation()
        return f"{what}: {', '.join(sides)}. {advice}"

    @property
    def text(self) -> str:
        """All of it in three lines, both sides below each other."""
        what, sides, advice = self._explanation()
        return "\n  ".join((f"CassetteMismatch: {what}", "   ".join(sides), advice))

    def _explanation(self) -> tuple[str, tuple[str, ...], str]:
        where = f"request {self.number} of {self.adapter}/{self.scenario}"
        advice = f"If intended: {how_to_record(self.adapter, self.scenario)}"
        if self.reason:
            return f"{where} is not in the cassette", (self.reason,), advice
        left, right = both_sides(self.recorded, self.sent)
        return f"{where} differs at {self.path}", (f"recorded {left}", f"sent {right}"), advice


def both_sides(recorded: JSON, current: JSON) -> tuple[str, str]:
    """Two differing values as short text; of long strings, the stretch around their first difference."""
    if isinstance(recorded, str) and isinstance(current, str) and max(len(recorded), len(current)) > WIDTH:
        same = next((n for n, (a, b) in enumerate(zip(recorded, current, strict=False)) if a != b), None)
        start = max(0, (min(len(recorded), len(current)) if same is None else same) - WIDTH // 3)
        return _stretch(recorded, start), _stretch(current, start)
    return _short(recorded), _short(current)


def _stretch(value: str, start: int) -> str:
    end = start + WIDTH
    return ("…" if start else "") + repr(value[start:end]) + ("…" if end < len(value) else "")


def _short(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def mismatch(
    dialect: Dialect,
    call: Call,
    form: JSON,
    nearest: Interaction | None,
    *,
    adapter: str,
    scenario: str,
    number: int,
    place: Place | None,
) -> Mismatch:
    """Why `call`, whose canonical form is `form`, is not what was recorded."""

    def mismatch_at(path: str = "$", recorded: JSON = ABSENT, current: JSON = ABSENT, reason: str = "") -> Mismatch:
        return Mismatch(adapter, scenario, number, place, path, recorded, current, reason)

    if nearest is None:
        return mismatch_at(reason="nothing was recorded")
    read = read_recorded(dialect, nearest.request)
    if isinstance(read, Refusal):
        return mismatch_at(reason=f"the recorded request nearest to it cannot be read: {read.message}")
    found = first_difference(canonical(dialect, read), form)
    if found:
        path, recorded, current = found
        return mismatch_at(path.replace("$.form", "$", 1), recorded, current)
    if nearest.stream != call.stream:
        return mismatch_at("$.stream", nearest.stream, call.stream)
    return mismatch_at(
        reason="its recorded digest is stale, the request was edited or the canonical form has changed since"
    )
