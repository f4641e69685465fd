"""`index.html`: everything that the page shows, gathered and put into its template. A pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._base.site_address import explain_page
from ...judge.run_log import AdapterLine, Run
from ...judge.verdict import Status
from ...run.evidence import EvidenceStore
from .._inline_text import LOOKS
from ..cache_bars import bars
from ..cache_economics import RunEconomics
from ..certification import Certification
from ..failures import SHOWN
from ..html import brief_file, content_policy, source, template
from ..kill_matrix_image import Picture, kill_picture
from ..limits import HEADLINE_FAILURES, OPEN_REQUIREMENTS
from ..other_documents import NOTHING, OtherDocuments
from ..other_documents.documents import Mutants
from ..overview import PATHS
from ..proof import NOT_PROVEN
from .cases import Cases
from .colours import colour_json
from .evidence_marks import EVIDENCE, SYMBOLS
from .headline import sentence
from .matrix import matrix
from .phrases import day, join_words, minute, with_paths
from .requirements import CODES, Group, Page, groups

_TITLES = {
    Status.VIOLATED: "Violations",
    Status.INCONCLUSIVE: "Inconclusive",
    Status.KNOWN_ISSUE: "Known issues",
}


@dataclass(frozen=True, slots=True)
class _Caching:
    """What prompt caching came to for one adapter."""

    adapter: AdapterLine
    claim: str
    runs: Sequence[RunEconomics]


def index_html(run: Run, report: Certification, store: EvidenceStore, other_documents: OtherDocuments = NOTHING) -> str:
    """The page of a run. `other_documents` is what else lies in its folder.

    Evidence that is missing or damaged is said on the page, where its conversation would stand.
    """
    style, script = source("base.css") + source("kills.css") + source("page/page.css"), source("page/page.js")
    paths = tuple(sorted({line.path for line in run.results}, key=_path_order))
    pages = groups(run, report, Cases(run, report, store), paths, other_documents.caught_mutants())
    return template("page/index.html.j2").render(
        run=run,
        report=report,
        not_proven=NOT_PROVEN,
        sentence=sentence(report),
        matrix=matrix(report),
        groups=pages,
        headlines=_headlines(pages),
        evidence_marks=EVIDENCE,
        symbols=SYMBOLS,
        coloured=colour_json,
        most=HEADLINE_FAILURES,
        paths=paths,
        adapters=list(run.adapters.values()),
        counts=_counts(pages),
        codes=CODES,
        caching=[
            _Caching(adapter, report.adapters[adapter.name].claim, found)
            for adapter in run.adapters.values()
            if (found := report.adapters[adapter.name].cache)
        ],
        beside=other_documents,
        style=style,
        script=script,
        policy=content_policy(style, script),
        few=sum(bool(page.cases) for group in pages for page in group.pages) <= OPEN_REQUIREMENTS,
        claims=list(dict.fromkeys(found.claim for found in report.adapters.values())),
        shown=SHOWN,
        words={status: f"{look.symbol} {look.word}" for status, look in LOOKS.items()},
        date=day(report.started),
        brief_file=brief_file,
        bars=bars,
        explain_page=explain_page,
        kill_picture=_kill_picture,
        day=day,
        listed=join_words,
        minute=minute,
        with_paths=with_paths,
    )


def _kill_picture(matrix: Mutants) -> Picture:
    return kill_picture(matrix.ran, list(matrix.requirements))


def _counts(pages: Sequence[Group]) -> dict[Status, int]:
    """How many adapters stand so on how many requirements, for every status that any path has."""
    standings = [one for group in pages for page in group.pages for one in page.standings]
    seen = {code for one in standings for code in one.codes}
    return {status: sum(one.status is status for one in standings) for status in Status if CODES[status] in seen}


def _headlines(pages: Sequence[Group]) -> dict[str, list[Page]]:
    """The requirements that are not held, by what stands above them: MUSTs first."""
    found = [page for group in pages for page in group.pages if page.cases]
    found.sort(key=lambda page: page.line.level != "MUST")
    headlines = {_TITLES[status]: [page for page in found if page.status is status] for status in SHOWN}
    return {title: headline for title, headline in headlines.items() if headline}


def _path_order(path: str) -> tuple[int, str]:
    return (PATHS.index(path) if path in PATHS else len(PATHS)), path
