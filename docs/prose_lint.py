"""Finds words that `vocabulary.toml` lists in the texts that people read, and says what to write instead.

`python docs/prose_lint.py` reads pages, the newest part of the changelog, explanations of requirements, help texts,
messages and the labels of reports. `[files]` of the vocabulary names them. It prints one line per place and exits 1 if
there is any.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VOCABULARY = Path(__file__).with_name("vocabulary.toml")

_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)
_OLDER_RELEASES = re.compile(r"^## (?!Unreleased).*", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Word:
    """One entry of the vocabulary. A blank in `pattern` matches a line break too."""

    pattern: re.Pattern[str]
    instead: str
    reason: str
    example: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words, globs of the checked files by kind, and the page that may quote the words."""

    words: tuple[Word, ...]
    files: dict[str, list[str]]
    quotes: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A listed word in a text. Lines count from 1."""

    file: str
    line: int
    found: str
    word: Word

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.found!r}: write {self.word.instead}. {self.word.reason}"


def read_vocabulary(path: Path = VOCABULARY) -> Vocabulary:
    """The vocabulary in a file."""
    data = tomllib.loads(path.read_text("utf-8"))
    words = [
        Word(
            re.compile(r"\b(?:" + entry["pattern"].replace(" ", r"\s+") + r")\b", re.IGNORECASE),
            entry["instead"],
            entry["reason"],
            entry["example"],
        )
        for entry in data["word"]
    ]
    return Vocabulary(tuple(words), data["files"], data["quotes"])


def check_text(file: str, text: str, words: tuple[Word, ...], first_line: int = 1) -> Iterator[Hit]:
    """Every listed word in a text that has no code in it."""
    for word in words:
        for match in word.pattern.finditer(text):
            line = first_line + text.count("\n", 0, match.start())
            yield Hit(file, line, " ".join(match[0].split()), word)


def without_code(page: str) -> str:
    """A Markdown page without code, link targets, comments and past releases. Lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return "`" + re.sub(r"[^\n]", " ", match[0])[1:-1] + "`"

    return _CODE.sub(blank, _OLDER_RELEASES.sub("", page) if page.startswith("# Changelog") else page)


def texts_of_python(source: str, *, docstrings: bool) -> Iterator[tuple[int, str]]:
    """Every string with a blank in it, which is a sentence or a label, with its line."""
    tree = ast.parse(source)
    silent = set() if docstrings else {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            id(node) not in silent
            and isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
        ):
            yield node.lineno, re.sub(r"`[^`\n]*`", "``", node.value)


def check_tree(root: Path, vocabulary: Vocabulary) -> Iterator[Hit]:
    """Every listed word in the texts of a checkout."""
    for kind, globs in vocabulary.files.items():
        for path in sorted({path for glob in globs for path in root.glob(glob)} - {root / vocabulary.quotes}):
            file, text = path.relative_to(root).as_posix(), path.read_text("utf-8")
            if kind == "pages":
                yield from check_text(file, without_code(text), vocabulary.words)
            elif kind == "data":
                yield from check_text(file, text, vocabulary.words)
            else:
                for line, string in texts_of_python(text, docstrings=kind == "help"):
                    yield from check_text(file, string, vocabulary.words, line)


def main() -> int:
    hits = list(check_tree(ROOT, read_vocabulary()))
    for hit in hits:
        print(hit)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
