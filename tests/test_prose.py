"""The vocabulary finds what it lists, and no text that people read has a listed word."""

from __future__ import annotations

import pytest
from scripts import ROOT, load_script

lint = load_script("docs/prose_lint.py")
VOCABULARY = lint.read_vocabulary()


@pytest.mark.parametrize("word", VOCABULARY.words, ids=lambda word: word.pattern.pattern)
def test_a_pattern_finds_its_example(word: object) -> None:
    (hit,) = lint.check_text("page.md", word.example, (word,))  # type: ignore[attr-defined]
    assert hit.line == 1
    assert hit.word.instead in str(hit)
    assert hit.word.reason.endswith(".")


def test_a_phrase_is_found_across_a_line_break() -> None:
    (hit,) = lint.check_text("page.md", "One line.\nThe field is\nto be an object.", VOCABULARY.words)
    assert (hit.line, hit.found) == (2, "is to be")


def test_code_and_past_releases_are_not_read() -> None:
    page = "# Changelog\n\n## Unreleased\n\n- `anew` [x](anew.md)\n\n```sh\nanew\n```\n\n## 0.1.0\n\n- anew\n"
    assert not [*lint.check_text("CHANGELOG.md", lint.without_code(page), VOCABULARY.words)]
    assert lint.without_code(page).count("\n", 0, page.index("```sh")) == page.count("\n", 0, page.index("```sh"))


def test_docstrings_are_read_only_where_they_are_help() -> None:
    source = '"""Asked anew."""\nWORDS = "told anew"\n'
    assert [text for _, text in lint.texts_of_python(source, docstrings=False)] == ["told anew"]
    assert len([*lint.texts_of_python(source, docstrings=True)]) == 2


def test_every_glob_of_the_vocabulary_finds_files() -> None:
    for globs in VOCABULARY.files.values():
        for glob in globs:
            assert any(ROOT.glob(glob)), glob


def test_no_text_has_a_listed_word() -> None:
    assert [str(hit) for hit in lint.check_tree(ROOT, VOCABULARY)] == []


def test_the_command_names_the_places(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert lint.main() == 0
    word = lint.Word(lint.re.compile("adapter"), "'x'", "A reason.", "adapter")
    monkeypatch.setattr(lint, "read_vocabulary", lambda: lint.Vocabulary((word,), {"pages": ["README.md"]}, ""))
    assert lint.main() == 1
    assert "README.md:" in capsys.readouterr().out
