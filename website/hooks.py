"""What MkDocs calls while it builds the site: it adds pages made from the code, and turns links into the repository."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from pathlib import Path

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from website import repository
from website.markdown import bare_bars
from website.pages import made_pages

log = logging.getLogger("mkdocs.hooks.website")

_COMPARED = ("<table", "<pre", "<li", "<h2", "<h3")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add every page that is made."""
    own = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    for path, text in made_pages():
        files.append(File.generated(config, path, content=text))
    for path in repository.linked_files(own):
        files.append(File.generated(config, repository.source_page(path), content=repository.source_text(path)))
    for schema in repository.schema_files():
        files.append(File.generated(config, f"schemas/{schema.name}", content=schema.read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave `docs` to the pages of those files."""
    if page.file.generated_by:
        return markdown
    return bare_bars(repository.on_the_site(markdown, f"docs/{page.file.src_uri}", page.file.src_uri))


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Warn where a page reads otherwise than in the repository: lists, tables and blocks that are not the same."""
    if not page.file.generated_by:
        text = re.sub(r"\A---\n.*?\n---\n", "", Path(str(page.file.abs_src_path)).read_text("utf-8"), flags=re.DOTALL)
        here, there = _counts(html), _counts(MarkdownIt("commonmark").enable("table").render(text))
        if here != there:
            log.warning("%s reads otherwise than CommonMark has it: %s, not %s", page.file.src_uri, here, there)
    return html


def _counts(html: str) -> dict[str, int]:
    found = Counter(tag for tag in _COMPARED for _ in re.finditer(rf"{tag}[\s>]", html))
    return dict(found)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Name the search, which the theme leaves without a name for screen readers."""
    search = 'data-md-component="search" role="dialog"'
    return output.replace(search, f'{search} aria-label="Search"')
