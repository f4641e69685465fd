"""The pages that are made from the program: each name has one, at its own address, with good links."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from website.api_pages import MODULES, docstring, module_page
from website.command_pages import command_names
from website.markdown import bare_bars, code, fenced, plain, prose, table
from website.pages import made_pages
from website.repository import LINK, ROOT, linked_files, on_the_site, resolve, schema_files, source_page, source_text

from turnproof.dialects import dialect, dialect_names
from turnproof.judge.requirements import load_suite

DOCS = ROOT / "docs"
GENERATED_FOLDERS = ("explain/", "reference/", "schemas/")


@cache
def generated_pages() -> dict[str, str]:
    return dict(made_pages())


def test_every_requirement_finding_and_rule_has_a_page_under_the_name_that_explain_takes() -> None:
    suite = load_suite()
    rules = [rule.id for name in dialect_names() for rule in dialect(name).rules]
    names = {*(one.id for one in suite.requirements), *suite.registry.templates, *rules}
    assert {path for path in generated_pages() if path.startswith("explain/")} == {
        f"explain/{name}.md" for name in names
    }


def test_no_link_of_a_made_page_and_none_to_one_is_broken() -> None:
    pages = generated_pages() | {file.name: file.read_text("utf-8") for file in DOCS.glob("*.md")}
    files = {file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*") if file.is_file()} | generated_pages().keys()
    files |= {f"schemas/{file.name}" for file in schema_files()}
    links = [(path, match["target"]) for path, text in pages.items() for match in LINK.finditer(text)]
    ours = [
        (path, target) for path, target in links if path in generated_pages() or target.startswith(GENERATED_FOLDERS)
    ]
    assert len(ours) > 1000
    broken = [(path, target) for path, target in ours if resolve(path, target) not in files]
    assert broken == []


def test_every_page_is_in_the_navigation() -> None:
    """MkDocs refuses one that is not; this is what says so without a build."""
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    named = re.findall(r": (\S+\.md)$", navigation, flags=re.MULTILINE)
    assert sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")) == sorted(
        path for path in named if not path.startswith(("reference/", "source/"))
    )
    lists = {path for path in generated_pages() if path.startswith("reference/") and path.count("/") == 1}
    assert {path for path in named if path.startswith("reference/")} == lists


def test_a_page_explains_what_the_command_explains() -> None:
    page = generated_pages()["explain/tools/results-answer-every-call.md"]
    assert "## What a user notices\n\nAfter a tool call the service refuses the request" in page
    assert "**MUST**" in page
    assert "The API pairs by id within neighbouring messages." in page
    assert "- the mutant `result-sent-twice`" in page
    assert "(../tools/results-answer-every-call/result-count.md)" in page


def test_the_page_of_a_finding_names_its_requirement() -> None:
    page = generated_pages()["explain/tools/results-answer-every-call/result-count.md"]
    assert "[`tools/results-answer-every-call`](../../tools/results-answer-every-call.md)" in page


def test_the_page_of_a_rule_has_its_places_and_whether_it_is_enforced() -> None:
    page = generated_pages()["explain/gemini/call-turn.md"]
    assert "**Enforced**" in page
    assert "- <https://github.com/google-gemini/gemini-cli/issues/11814> (2026-11-26)" in page


@pytest.mark.parametrize("name", command_names())
def test_the_page_of_a_command_has_its_usage_and_exit_codes(name: str) -> None:
    page = generated_pages()[f"reference/commands/{name.replace(' ', '-')}.md"]
    assert f"turnproof {name} " in page
    assert "| 141 |" in page


def test_the_page_of_certify_has_its_options() -> None:
    page = generated_pages()["reference/commands/certify.md"]
    assert "| `-j, --jobs N` |" in page
    assert "| `--path <stateless|legacy>` |" in page
    assert "'tools/\\*' work" in page


@pytest.mark.parametrize("name", MODULES)
def test_every_public_class_and_function_of_the_contract_is_on_its_page(name: str) -> None:
    page = module_page(name)
    tree = ast.parse(inspect.getsource(importlib.import_module(name)))
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            assert re.search(rf"^## {node.name}(\(\))?$", page, flags=re.MULTILINE), node.name


def test_what_a_module_passes_on_and_how_errors_are_made_is_on_its_page() -> None:
    assert "## thaw()" in module_page("turnproof.messages")
    errors = module_page("turnproof.errors")
    assert "    requested: int | None=None,\n" in errors
    tree = errors.partition("## ")[0]
    missing = [name for name in re.findall(r"^## (\w+)$", errors, flags=re.MULTILINE) if f" {name}" not in tree]
    assert missing == ["TurnproofError"]


def test_long_signatures_have_a_line_for_each_argument() -> None:
    page = module_page("turnproof.provider")
    assert re.search(r"^    messages: Sequence\[Message\],$", page, flags=re.MULTILINE)


def test_a_docstring_keeps_its_lists_and_its_drawings() -> None:
    text = "A tree.\n\nRoot\n├── Leaf      what it is\n\n- one `code`\n- two\n  lines"
    assert list(docstring(text)) == [
        "A tree.",
        "```text\nRoot\n├── Leaf      what it is\n```",
        "- one `code`\n- two lines",
    ]


def test_texts_are_written_so_that_markdown_changes_nothing() -> None:
    assert plain("a *b*\n<c> [d] | e") == "a \\*b\\* \\<c\\> \\[d\\] \\| e"
    assert prose("A `b*c` of *all* * d") == "A `b*c` of *all* \\* d"
    assert code("a|b") == "`a|b`"
    assert code("a`b") == "`` a`b ``"
    assert fenced("```\nx\n```", "md") == "````md\n```\nx\n```\n````"
    assert table(["a"], [["b"]]) == "| a |\n| --- |\n| b |"


def test_a_bar_in_code_in_a_table_is_written_as_python_markdown_reads_it() -> None:
    assert bare_bars("| `a \\| b` | c \\| d |\n`e \\| f`") == "| `a | b` | c \\| d |\n`e \\| f`"


def test_links_out_of_docs_lead_to_pages_of_those_files() -> None:
    assert (
        on_the_site("[x](../harness/turnproof/provider.py#L3) [y](settings.md)", "docs/glossary.md", "glossary.md")
        == "[x](source/harness/turnproof/provider.py.md#L3) [y](settings.md)"
    )
    text = on_the_site("[x](../../docs/gates.md) [y](loom.py)", "examples/migration/README.md", "source/e/m/README.md")
    assert text == "[x](../../../gates.md) [y](../../examples/migration/loom.py.md)"


def test_a_file_that_begins_with_a_dot_has_a_page_that_mkdocs_takes() -> None:
    assert source_page(".github/workflows/release.yml") == "source/github/workflows/release.yml.md"


def test_linked_files_are_found_through_linked_pages_and_exist() -> None:
    found = linked_files(["docs/gates.md", "docs/bind-your-adapter.md"])
    assert "examples/httpx_chat/README.md" in found
    assert "examples/httpx_chat/httpx_chat.py" in found
    assert all((ROOT / path).exists() for path in found)
    assert "```python\n" in source_text("examples/httpx_chat/httpx_chat.py")


def test_a_folder_is_shown_as_a_list_without_what_python_leaves_there() -> None:
    text = source_text("examples/httpx_chat")
    assert "- `httpx_chat.py`" in text
    assert "__pycache__" not in text


def test_code_in_a_page_is_no_link(tmp_path: Path) -> None:
    assert not any(path.startswith("my/") for path in linked_files(["docs/style.md"]))
