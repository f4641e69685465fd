"""`turnproof census`: asks a real service for each rule whether it refuses what the rule says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from ..._base.counts import counted
from ..._base.printable import one_line
from ...dialects import api_of, dialect
from ...dialects.access import access_to
from ...dialects.contract import Dialect
from ...errors import UsageError
from ...wire.cassettes.recording_proxy import ProxyTarget
from .budget import affordable
from .observation import Observation, read_observations
from .options import CensusOptions
from .pairs import RulePair, pairs_of, rule_id, selected
from .questions import ask
from .recordings import CensusRecordings

_GIVEN_UP: Final = (401, 403)


@dataclass(frozen=True, slots=True)
class CensusCount:
    """How many rules have a line of this census, and how many a folder of recordings had no answer to."""

    decided: int = 0
    missing: int = 0


def census(options: CensusOptions, out: Callable[[str], None]) -> CensusCount:
    """Show what would be sent; with `live` send it, with `cassettes` answer from that folder.

    A rule that the file at `options.out` has already is not asked again, and none that would go over the budget. Raises
    UsageError where there is no key or no known price, where nobody listens, and where there is no such folder.
    """
    wire = dialect(options.dialect)
    pairs = [_with_model(pair, options.model) for pair in selected(options.dialect, options.only)]
    done = {(one.rule, one.variant) for one in read_observations(options.out)} if options.out.exists() else set()
    waiting = [pair for pair in pairs if (rule_id(wire, pair), pair.variant) not in done]
    skipped = pairs_of(api_of(options.dialect)).left_out
    out(f"{counted(len(waiting), 'pair')} to ask of {len(pairs)}; {len(skipped)} are not sent:")
    for reason, number in sorted(Counter(skipped.values()).items()):
        out(f"  {number}: {reason}")
    if options.cassettes is not None:
        return _replay(options, wire, waiting, CensusRecordings(options.cassettes, options.dialect), out)
    if not options.live:
        out("nothing was sent: --live asks the service")
        return CensusCount()
    access = access_to(wire, f"the census of {options.dialect!r}")
    target = ProxyTarget(access.base_url.rstrip("/").removesuffix(wire.service.base_path), access.key, wire)
    chosen = affordable(options, waiting, target.host, out)
    target.check_presence()
    return asyncio.run(_ask_all(options, wire, target, chosen, out))


def _with_model(pair: RulePair, model: str | None) -> RulePair:
    """The pair for another model; a pair that is about the model keeps its own."""
    if model is None or pair.illegal.model != pair.legal.model:
        return pair
    return msgspec.structs.replace(pair, illegal=pair.illegal.with_model(model), legal=pair.legal.with_model(model))


async def _ask_all(
    options: CensusOptions, wire: Dialect, target: ProxyTarget, pairs: Sequence[RulePair], out: Callable[[str], None]
) -> CensusCount:
    options.out.parent.mkdir(parents=True, exist_ok=True)
    recordings = CensusRecordings(options.record, options.dialect) if options.record is not None else None
    with options.out.open("ab") as file:
        async with target:
            for pair in pairs:
                answered = await ask(options, wire, target, pair)
                found = answered.observation
                if found.legal.status in _GIVEN_UP:
                    raise UsageError(
                        f"{target.host} does not take the key ({found.legal.status}): {found.legal.message:.200}"
                    )
                file.write(msgspec.json.encode(found) + b"\n")
                file.flush()
                out(_in_words(pair, found))
                reason = recordings.save(wire, target, pair, answered) if recordings is not None else None
                if reason is not None:
                    out(one_line(f"not recorded: {pair.id}: {reason}"))
    return CensusCount(len(pairs))


def _replay(
    options: CensusOptions,
    wire: Dialect,
    pairs: Sequence[RulePair],
    recordings: CensusRecordings,
    out: Callable[[str], None],
) -> CensusCount:
    if not recordings.folder.is_dir():
        raise UsageError(f"{recordings.folder}: there is no such folder; census --live --record writes one")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    missing = 0
    with options.out.open("ab") as file:
        for pair in pairs:
            found = recordings.read(wire, pair)
            if isinstance(found, str):
                missing += 1
                out(one_line(f"not decided: {pair.id}: {found}"))
                continue
            file.write(msgspec.json.encode(found) + b"\n")
            out(_in_words(pair, found))
    return CensusCount(len(pairs) - missing, missing)


def _in_words(pair: RulePair, found: Observation) -> str:
    return one_line(f"{found.agreement}: {pair.id}: {found.illegal.status} {found.illegal.message:.100}")
