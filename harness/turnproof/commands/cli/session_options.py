"""What the commands of `turnproof sessions` take in common, and what is meant by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError

if TYPE_CHECKING:
    from ..session_sources.source import Source, SourceOptions

Store = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="In place of AGENT: the sessions that turnproof keeps there.")
]
Cwd = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The sessions of this folder. Default: the current one; of a store all."),
]
Everywhere = Annotated[bool, typer.Option("--all", help="The sessions of every folder.")]
Home = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The agent's own folder. Default: ~/.local/share/turnproof/agents/AGENT."),
]
BaseURL = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Where the model is.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the agent, as program=/path. May be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def require_agent(words: Sequence[str] | None, store: Path | None, missing: str) -> list[str]:
    """The words as they are; there has to be an agent, unless there is a store."""
    if store is None and not words:
        request = f"name one{f', and {missing}' if missing else ''}"
        raise UsageError(f"which agent? {request}; `turnproof list agents` shows them, --store FOLDER replaces it")
    return list(words or ())


def source_options(
    cwd: Path | None,
    home: Path | None,
    base_url: str | None,
    options: Sequence[str] | None,
    *,
    system: str | None = None,
    adapter: str | None = None,
) -> SourceOptions:
    """How to open the source."""
    from ..session_sources.source import SourceOptions

    folder = (cwd or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"--cwd: there is no folder {folder}")
    return SourceOptions(folder, home, base_url, system, dict(map(_option, options or ())), adapter)


def folder_of(store: Path | None, cwd: Path | None, everywhere: bool) -> str | None:
    """The folder whose sessions are meant; None for every one."""
    if cwd is not None and everywhere:
        raise UsageError("--cwd names a folder and --all means every folder: use one of them")
    if everywhere or (store is not None and cwd is None):
        return None
    return str((cwd or Path.cwd()).resolve())


@contextmanager
def open_source(
    words: Sequence[str], store: Path | None, options: SourceOptions, *, needs_key: bool = False
) -> Iterator[tuple[Source, list[str]]]:
    """The source, closed in the end, and the words behind its name."""
    from ..._base.settings import load_config
    from ..session_sources.open_source import open_agent, open_store

    if store is not None and options.home is not None:
        raise UsageError("--home is the folder of an agent, and --store has its own: use one of them")
    if store is not None:
        source, rest = open_store(store, options, needs_key=needs_key), list(words)
    else:
        source = open_agent(words[0], options, load_config(Path.cwd()), needs_key=needs_key)
        rest = list(words[1:])
    try:
        yield source, rest
    finally:
        source.close()


def exactly_one(words: Sequence[str], store: Path | None) -> Sequence[str]:
    """The words, if they can name one session."""
    if len(words) != 1:
        count = f", not {len(words)}" if words else ""
        raise UsageError(
            f"one session{count}: name it by its id, or by its number in the list{_no_agent(words, store)}"
        )
    return words


def session_and_prompt(
    words: Sequence[str], store: Path | None, *, last: bool, configured: bool
) -> tuple[str | None, str | None]:
    """The session's name and the prompt, where they are there."""
    if len(words) > (1 if last else 2):
        unless = "; --last replaces the ID" if last else ""
        raise UsageError(f"too many words: put the prompt in quotes{unless}{_no_agent(words, store)}")
    if last or (configured and len(words) < 2):
        return None, words[0] if words else None
    if not words:
        raise UsageError("which session? name it by its id, by its number in the list, or with --last")
    return words[0], words[1] if len(words) > 1 else None


def _no_agent(words: Sequence[str], store: Path | None) -> str:
    return "; with --store no AGENT is named" if words and store is not None else ""


def _option(word: str) -> tuple[str, Any]:
    """`KEY=VALUE`; a value that is JSON is taken as that, and any other as text."""
    from json import loads

    key, is_there, value = word.partition("=")
    if not key or not is_there:
        raise UsageError(f"--option {word!r}: write KEY=VALUE")
    try:
        return key, loads(value)
    except ValueError:
        return key, value
