"""What the check of the built site finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from website.check import main, problems, weight


def site(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / name).mkdir()
        (folder / name / "index.html").write_text(f"<body>{body}</body>", "utf-8")
    return folder


def test_good_links_are_no_problem(tmp_path: Path) -> None:
    folder = site(tmp_path, a='<a href="../b/#here">b</a> <a href="#top" id="top">x</a>', b='<p id="here">')
    (folder / "a.css").write_text("a", "utf-8")
    (folder / "a" / "more.html").write_text('<link rel="stylesheet" href="../a.css"><a href="https://x.org/y">y</a>')
    assert list(problems(folder)) == []
    assert main(folder) == 0


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="../gone/">x</a>', "a/index.html: ../gone/: there is no such file"),
        ('<a href="#gone">x</a>', "a/index.html: #gone: there is no such anchor"),
        ('<img src="x.png">', "a/index.html: x.png: there is no such file"),
        ('<script src="https://cdn.org/x.js"></script>', "loads https://cdn.org/x.js from another host"),
        ('<link rel="stylesheet" href="//fonts.org/x">', "loads //fonts.org/x from another host"),
    ],
)
def test_a_broken_link_and_what_comes_from_elsewhere_are_found(tmp_path: Path, body: str, problem: str) -> None:
    (found,) = problems(site(tmp_path, a=body))
    assert problem in found
    assert main(tmp_path) == 1


def test_a_page_is_weighed_with_its_pictures(tmp_path: Path) -> None:
    folder = site(tmp_path, a='<img src="../big.png">')
    (folder / "big.png").write_bytes(b"x" * 300_000)
    assert weight(folder / "a" / "index.html") > 300_000
    (found,) = problems(folder)
    assert "at most 300,000" in found


def test_a_site_without_pages_is_a_problem(tmp_path: Path) -> None:
    assert main(tmp_path) == 1
