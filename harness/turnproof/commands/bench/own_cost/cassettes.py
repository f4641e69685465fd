"""What a cassette costs to load and to play, beside vcrpy on the very same file, in CPU time.

`load` is a whole cassette into memory. `play` is all that answering one request takes once it has been read: canonical
form, digest, look-up, the reply as events. vcrpy plays with its `body` matcher, the only one of its own that tells
requests of one address apart, and with the matcher that `turnproof.wire.cassettes.vcr` registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any, Self

from ....wire.cassettes import Player, load
from .exchanges import HOST, WIRE, parse_request, request, write
from .parts import Compared, FolderPart, Key

_INTERACTIONS = 500


class Cassettes(FolderPart):
    """`load`, and `play` of the first and the last exchange."""

    unit = "ms"
    module = "vcr"
    not_installed = "cassettes were not measured: vcrpy is not installed (pip install 'turnproof[vcr]')"
    ratios: Sequence[Compared] = (
        ("cassette load", ("load", "turnproof"), ("load", "vcrpy")),
        ("last request of a cassette", ("play last", "turnproof"), ("play first", "turnproof")),
        ("last request of a cassette", ("play last", "vcrpy"), ("play first", "vcrpy")),
        ("last request of a cassette", ("play last", "turnproof"), ("play last", "vcrpy")),
        ("cassette load", ("load", "vcrpy, registered"), ("load", "vcrpy")),
        ("last request of a cassette", ("play last", "vcrpy, registered"), ("play last", "vcrpy")),
    )

    def __init__(self, interactions: int = _INTERACTIONS) -> None:
        self._interactions = interactions

    def __enter__(self) -> Self:
        super().__enter__()
        self._file = self.folder / "fixed.yaml"
        write(self._file, self._interactions)
        return self

    def round(self) -> Mapping[Key, float]:
        """Milliseconds of each."""
        file, last = self._file, self._interactions - 1
        found = {("load", "turnproof"): _cpu(lambda: load(file))}
        player, calls = Player(load(file), WIRE), [parse_request(request(n)) for n in range(self._interactions)]
        plays = [_cpu(partial(player.answer, calls[n], n, 0)) for n in range(self._interactions)]
        assert player.unplayed() == []
        found["play first", "turnproof"], found["play last", "turnproof"] = _ends(plays)
        for name, ours in (("vcrpy", False), ("vcrpy, registered", True)):
            found["load", name] = _cpu(partial(_vcr, file, ours=ours))
            cassette = _vcr(file, ours=ours)
            # The registered matcher reads every recorded request when it first meets it: a cost of its own, once.
            found["play opening", name] = _cpu(partial(_vcr_play, cassette, self._interactions // 2))
            found["play first", name] = _cpu(partial(_vcr_play, cassette, 0))
            found["play last", name] = _cpu(partial(_vcr_play, cassette, last))
        return found


def _cpu(work: Callable[[], Any]) -> float:
    start = process_time_ns()
    work()
    return (process_time_ns() - start) / 1e6


def _ends(costs: Sequence[float]) -> tuple[float, float]:
    """First and last of many equal jobs, each as the median of a tenth of them."""
    tenth = max(1, len(costs) // 10)
    return median(costs[:tenth]), median(costs[-tenth:])


def _vcr(path: Path, *, ours: bool) -> Any:
    """The cassette in vcrpy: with its own loader and body matcher, or with what we register."""
    from vcr.cassette import Cassette  # type: ignore[import-untyped]
    from vcr.matchers import body, method, uri  # type: ignore[import-untyped]
    from vcr.record_mode import RecordMode  # type: ignore[import-untyped]

    from ....wire.cassettes.vcr import Matcher, Serializer

    return Cassette.load(
        path=str(path),
        record_mode=RecordMode.NONE,
        match_on=(method, uri, Matcher({HOST: [WIRE]}) if ours else body),
        **({"serializer": Serializer()} if ours else {}),
    )


def _vcr_play(cassette: Any, number: int) -> None:
    """What vcrpy's HTTP stubs do for one request."""
    from vcr.request import Request  # type: ignore[import-untyped]

    http_request = request(number)
    vcr_request = Request(
        http_request.method, f"{WIRE.default_host}{http_request.path}", http_request.body, dict(http_request.headers)
    )
    assert cassette.can_play_response_for(vcr_request)
    cassette.play_response(vcr_request)
