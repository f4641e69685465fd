"""All reports of a run, written beside its `run.ndjson`. Each derives from that file and the evidence, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._base.whole_files import write_whole
from ..judge.run_log import Run
from ..run.evidence import EvidenceStore
from ._inline_text import file_name
from .badge import badge_json
from .brief import brief_html
from .certification import Certification, certification, certification_json
from .compare_html import compare_html
from .comparison import ComparisonReport, comparison_json
from .html import brief_file
from .junit import junit_xml
from .other_documents import read_other_documents
from .page import index_html
from .picture import picture_svg
from .sarif import sarif_json
from .summary import summary_md

_OF_ADAPTERS = ("badge-*.json", "brief-*.html", "picture-*.svg")

CERTIFICATION_REPORTS = (
    "certification.json", "junit.xml", "turnproof.sarif", "summary.md", "index.html", *_OF_ADAPTERS,
)  # fmt: skip
"""What `write_reports` writes, as patterns of names."""


MACHINE_REPORTS = ("junit.xml", "turnproof.sarif", "summary.md", "badge-*.json", "picture-*.svg")
"""What `machine_reports` makes, as patterns of names."""

COMPARISON_REPORTS = ("comparison.json", "compare.html")
"""What `write_comparison` writes."""


def machine_reports(run: Run, report: Certification) -> dict[str, bytes]:
    """The reports that programs and other pages read, by their names in the folder."""
    return {
        "junit.xml": junit_xml(run),
        "turnproof.sarif": sarif_json(run),
        "summary.md": summary_md(run, report).encode(),
        **{f"badge-{file_name(name)}.json": badge_json(report, name) for name in report.adapters},
        **{f"picture-{file_name(name)}.svg": picture_svg(report, name).encode() for name in report.adapters},
    }


def write_reports(run: Run, folder: Path, store: EvidenceStore) -> Certification:
    """Write the reports of a run into `folder`; what it certifies.

    Writes `certification.json`, `junit.xml`, `turnproof.sarif`, `summary.md`, `index.html` and for each adapter a
    `badge-<adapter>.json`, a `brief-<adapter>.html` and a `picture-<adapter>.svg`, every file in one step: a reader
    never sees half of one. Those of adapters that take no part in this run are removed: they would speak for a run that
    is gone. A link or a pipe in the place of a report is replaced: the folder may come from somebody else. Raises
    UsageError for a file that cannot be written.
    """
    folder = Path(folder)
    report = certification(run, store)
    files = {
        "certification.json": certification_json(report),
        **machine_reports(run, report),
        "index.html": index_html(run, report, store, read_other_documents(folder)).encode(),
        **{brief_file(name): brief_html(run, report, name).encode() for name in report.adapters},
    }
    for pattern in _OF_ADAPTERS:
        for stale in folder.glob(pattern):
            if stale.name not in files:
                stale.unlink()
    for name, content in files.items():
        write_whole(folder / name, content, foreign=True)
    return report


def write_comparison(report: ComparisonReport, folder: Path, stores: Sequence[EvidenceStore]) -> None:
    """Write `comparison.json` and `compare.html` into `folder`, which is made if it is not there.

    The page shows the runs from the first of the `stores` that has them.
    """
    folder = Path(folder)
    write_whole(folder / "comparison.json", comparison_json(report))
    write_whole(folder / "compare.html", compare_html(report, stores))
