"""Plots of an outcome as static SVG: how many times the floor a caller takes, against the length of the history.

Both axes are logarithmic. Nothing in a file is fetched from anywhere, its ground is clear, and its colours can be read
on white and on black.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from ...errors import UsageError
from ...provider import PATHS
from .floor import FLOOR
from .report import Bench, Figure, SizeFigure, TimeFigure

_INK, _LINES = "#767676", "#888888"
"""As far from white as from black."""

_COLOURS = ("#1f8fe0", "#e0701a", "#12a078", "#c552c5", "#b58a00", "#e0507a", "#7d7ff0", "#8a8a8a")
_COLUMNS = 3

_ABOUT: dict[Figure, str] = {
    "turn": "A turn in one piece",
    "stream": "A streamed turn",
    "first-delta": "To the first piece of text",
    "collect": "A collection and the turn after it",
    "restore": "The first turn of a conversation that is new to the provider",
    "peak": "Memory that a turn allocates at its peak",
    "left": "Blocks that a turn leaves",
}


def can_draw() -> bool:
    """Whether altair and vl-convert are installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def draw(bench: Bench, report_file: Path) -> list[Path]:
    """Write `bench-<figure>.svg` beside that file, for each figure that was taken at more than one length and held
    against the floor. Plots of an earlier run that this one has not are removed. Raises UsageError for a folder that
    cannot be written to.
    """
    files = []
    try:
        for figure in (*get_args(TimeFigure), *get_args(SizeFigure)):
            file = report_file.parent / f"bench-{figure}.svg"
            rows = list(_rows(bench, figure))
            if len({row["messages"] for row in rows}) > 1:
                file.write_text(_svg(figure, rows), "utf-8")
                files.append(file)
            else:
                file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot write the plot: {error.strerror}") from error
    return files


def _rows(bench: Bench, figure: Figure) -> Iterator[dict[str, Any]]:
    """A point for each length, caller and adapter."""
    for name, ratio in bench.ratios():
        if ratio.figure == figure and ratio.to == FLOOR:
            point = {"messages": ratio.messages, "ratio": ratio.value, "low": ratio.low, "high": ratio.high}
            yield {"adapter": name, "caller": ratio.caller, **point}


def _svg(figure: Figure, rows: list[dict[str, Any]]) -> str:
    # Extras, for this alone.
    import altair as alt
    import vl_convert

    lengths, limits = sorted({row["messages"] for row in rows}), _decades(rows)
    x = alt.X(
        "messages:Q",
        title="messages of history",
        scale=alt.Scale(type="log", domain=[lengths[0], lengths[-1]], nice=False, padding=10),
        axis=alt.Axis(values=lengths, labelOverlap=True),
    )
    scale, axis = (
        alt.Scale(type="log", domain=[limits[0], limits[-1]], clamp=True),
        alt.Axis(values=limits, format="~g"),
    )
    y = alt.Y("ratio:Q", title="times the floor", scale=scale, axis=axis)
    colours = _coloured(rows)
    callers = list(colours)
    colour = alt.Color(
        "caller:N", title=None, sort=callers, scale=alt.Scale(domain=callers, range=list(colours.values()))
    )
    # Dashes and shapes too: not everybody sees the colours, and not every printer has them.
    dash = alt.StrokeDash("caller:N", title=None, sort=callers, scale=alt.Scale(domain=callers))
    shape = alt.Shape("caller:N", title=None, sort=callers, scale=alt.Scale(domain=callers))
    base = alt.Chart({"values": rows}).encode(x=x, color=colour)
    spread = base.mark_rule().encode(y=alt.Y("low:Q", title="times the floor"), y2="high:Q")
    lines = base.mark_line().encode(y=y, strokeDash=dash, shape=shape)
    points = base.mark_point(filled=True, size=40, opacity=1).encode(y=y, strokeDash=dash, shape=shape)
    plot = alt.layer(spread, lines, points).properties(width=240, height=180)
    chart = plot.facet(facet=alt.Facet("adapter:N", title=None), columns=_COLUMNS).properties(
        title=_ABOUT.get(figure, figure), background="transparent"
    )
    return str(vl_convert.vegalite_to_svg(_styled(chart).to_dict()))


def _coloured(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The callers with their colours, the paths first: theirs are the same in every plot."""
    there = {row["caller"] for row in rows}
    every = [*PATHS, *sorted(there - set(PATHS))]
    return {caller: _COLOURS[place % len(_COLOURS)] for place, caller in enumerate(every) if caller in there}


def _decades(rows: list[dict[str, Any]]) -> list[float]:
    """The powers of ten around all values; where one would hold them all, also the 2 and the 5 between."""
    values = [row["ratio"] for row in rows if row["ratio"] > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if high - low <= 1 else (1,)
    return [step * 10.0**power for power in range(low, high) for step in steps] + [10.0**high]


def _styled(chart: Any) -> Any:
    axis = {
        "labelColor": _INK,
        "titleColor": _INK,
        "gridColor": _LINES,
        "gridOpacity": 0.3,
        "domainColor": _LINES,
        "tickColor": _LINES,
    }
    return (
        chart.configure_axis(**axis)
        .configure_legend(labelColor=_INK, orient="bottom", columns=3, columnPadding=40, symbolSize=60, labelLimit=260)
        .configure_header(labelColor=_INK, labelFontWeight="bold")
        .configure_title(color=_INK, anchor="start")
        .configure_view(stroke=_LINES)
    )
