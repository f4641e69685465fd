"""A page as a strict browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser

COLOURS = ("k", "s", "n", "w")
"""Classes of the pieces of JSON, which have no space between them."""

VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(HTMLParser):
    """A strict reader: every tag must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.words.append("" if tag == "mark" or dict(attrs).get("class") in COLOURS else " ")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag not in ("mark", "span"):
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def attributes(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]
