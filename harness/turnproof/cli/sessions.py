"""`turnproof sessions`: what an agent, or a store, keeps; what was said there, and how to go on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exits import Exit

if TYPE_CHECKING:
    from ..sessions import SessionInfo
    from ..sources.source import Source, Wanted

sessions = typer.Typer(
    help="The sessions that an agent keeps: list them, look into one, go on with it, delete it.",
    epilog=(
        "AGENT is an installed name (turnproof list agents) or module:attribute, perhaps with =MODEL. An ID may be its "
        "beginning, or a number as listed: 1 is the newest. Keys come from the environment: TURNPROOF_API_KEY, or the "
        "service's own variable."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Words = Annotated[list[str] | None, typer.Argument(show_default=False)]
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


@sessions.command("list")
def list_(
    agent: Annotated[str | None, typer.Argument(show_default=False)] = None,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the newest N.")] = None,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
    json: Json = False,
) -> Exit:
    """List sessions, the newest first.

    What cannot be resumed is listed with the reason.
    """
    from ..errors import UsageError
    from ..sources.choosing import newest_first
    from ..sources.text import list_json, print_list

    if agent is not None and store is not None:
        raise UsageError("AGENT or --store: say one of them")
    rest = _rest([agent] if agent else [], store, "")
    wanted = _wanted(cwd, home, base_url, None, option)
    with _opened(rest, store, wanted) as (source, _):
        folder = _folder(store, cwd, everywhere)
        found = newest_first(source, folder)[:limit]
        if json:
            sys.stdout.write(list_json(found))
        elif found:
            print_list(found)
        if not found:
            _say(_nothing(source, folder))
    return Exit.OK


@sessions.command()
def info(
    words: Annotated[list[str] | None, typer.Argument(metavar="AGENT ID", show_default=False)] = None,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
    json: Json = False,
) -> Exit:
    """Tell what is known of a session, and what was said in it.

    An agent is asked to resume it for that; nothing is said to it.
    """
    from ..sources.choosing import chosen, usable
    from ..sources.text import info_json, print_info

    rest = _rest(words, store, "ID")
    wanted = _wanted(cwd, home, base_url, None, option)
    with _opened(rest, store, wanted) as (source, rest):
        (found,) = chosen(source, _exactly_one(rest), _folder(store, cwd, everywhere))
        can = source.can
        messages = source.look(usable(found)) if can.can_load and found.problem is None else None
        if json:
            sys.stdout.write(info_json(found, can, messages))
        else:
            print_info(found, can, messages or ())
        if messages is None:
            why = found.problem or f"{source.name} cannot load a session"
            _say(f"what was said in it cannot be told: {why}")
        elif not messages:
            _say(f"{source.name} gives nothing back of what was said in it")
    return Exit.OK


@sessions.command()
def resume(
    words: Annotated[list[str] | None, typer.Argument(metavar="AGENT [ID] [PROMPT]", show_default=False)] = None,
    last: Annotated[bool, typer.Option("--last", help="The session that was updated last, in place of an ID.")] = False,
    store: Store = None,
    adapter: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --store: the adapter that goes on, perhaps with =MODEL.")
    ] = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="The system text.")] = None,
    option: Options = None,
) -> Exit:
    """Go on with a session.

    Writes the answer to stdout as it arrives, and the session's id to stderr. Without a prompt, or with `-`, it is read
    from stdin. With --last, or with a session in the settings, a single word is the prompt. Ctrl-C cancels the turn and
    leaves a session that can be gone on with.
    """
    from ..errors import UsageError
    from ..sources.speaking import say

    rest = _rest(words, store, "ID or --last")
    wanted = _wanted(cwd, home, base_url, system, option, adapter)
    if adapter is not None and store is None:
        raise UsageError("--adapter goes with --store; an agent asks its own model")
    with _opened(rest, store, wanted, needs_key=True) as (source, rest):
        which, prompt = _which(rest, last=last, configured=source.is_configured)
        text = _prompt(prompt)
        asked = _enter(source, which, last, _folder(store, cwd, everywhere))
        try:
            finished = say(source, text)
        finally:
            _tell_session(source, asked)
    return Exit.OK if finished else Exit.INTERRUPTED


@sessions.command()
def delete(
    words: Annotated[list[str] | None, typer.Argument(metavar="AGENT ID...", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
) -> Exit:
    """Delete sessions for good.

    Asks first, and prints the ids of those that are gone.
    """
    from ..errors import UsageError
    from ..sources.choosing import chosen

    rest = _rest(words, store, "ID...")
    wanted = _wanted(cwd, home, base_url, None, option)
    with _opened(rest, store, wanted) as (source, rest):
        if not rest:
            raise UsageError("which session? name it by its id, or by its number in the list")
        if not source.can.can_delete:
            raise UsageError(f"{source.name} cannot delete sessions")
        found = chosen(source, rest, _folder(store, cwd, everywhere))
        if not yes and not _agreed(source, found):
            _say("nothing was deleted")
            return Exit.OK
        for one in found:
            source.delete(one)
            print(one.session_id)
    return Exit.OK


# -- what the commands share -------------------------------------------------------------------------------------


def _rest(words: Sequence[str] | None, store: Path | None, then: str) -> list[str]:
    """The words as they are; there has to be an agent, unless there is a store."""
    from ..errors import UsageError

    if store is None and not words:
        raise UsageError(f"which agent? name one{f', and {then}' if then else ''}; `turnproof list agents` shows them")
    return list(words or ())


@contextmanager
def _opened(
    words: Sequence[str], store: Path | None, wanted: Wanted, *, needs_key: bool = False
) -> Iterator[tuple[Source, list[str]]]:
    """The source, and the words behind its name."""
    from ..config import load_config
    from ..sources.opening import open_agent, open_store

    if store is not None:
        source, rest = open_store(store, wanted, needs_key=needs_key), list(words)
    else:
        source = open_agent(words[0], wanted, load_config(Path.cwd()), needs_key=needs_key)
        rest = list(words[1:])
    try:
        yield source, rest
    finally:
        source.close()


def _wanted(
    cwd: Path | None,
    home: Path | None,
    base_url: str | None,
    system: str | None,
    options: Sequence[str] | None,
    adapter: str | None = None,
) -> Wanted:
    from ..errors import UsageError
    from ..sources.source import Wanted

    folder = (cwd or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"--cwd: there is no folder {folder}")
    return Wanted(folder, home, base_url, system, dict(map(_option, options or ())), adapter)


def _option(word: str) -> tuple[str, Any]:
    """`KEY=VALUE`; a value that is JSON is taken as that, and any other as text."""
    from json import loads

    from ..errors import UsageError

    key, is_there, value = word.partition("=")
    if not key or not is_there:
        raise UsageError(f"--option {word!r}: say KEY=VALUE")
    try:
        return key, loads(value)
    except ValueError:
        return key, value


def _folder(store: Path | None, cwd: Path | None, everywhere: bool) -> str | None:
    from ..errors import UsageError

    if cwd is not None and everywhere:
        raise UsageError("--cwd names a folder and --all means every one: say one of them")
    if everywhere or (store is not None and cwd is None):
        return None
    return str((cwd or Path.cwd()).resolve())


def _exactly_one(words: Sequence[str]) -> Sequence[str]:
    from ..errors import UsageError

    if len(words) != 1:
        raise UsageError("one session: name it by its id, or by its number in the list")
    return words


def _which(words: Sequence[str], *, last: bool, configured: bool) -> tuple[str | None, str | None]:
    """The session's name and the prompt, where they are there."""
    from ..errors import UsageError

    if len(words) > (1 if last else 2):
        raise UsageError("too many words: put the prompt in quotes")
    if last or (configured and len(words) < 2):
        return None, words[0] if words else None
    if not words:
        raise UsageError("which session? name it by its id, by its number in the list, or say --last")
    return words[0], words[1] if len(words) > 1 else None


def _prompt(word: str | None) -> str:
    from ..errors import UsageError

    if word is None or word == "-":
        if sys.stdin.isatty():
            _say("the prompt, and Ctrl-D on a line of its own:")
        try:
            word = sys.stdin.read().rstrip("\n")
        except UnicodeDecodeError as error:
            raise UsageError(f"the prompt on stdin is no text: {error}") from error
    if not word.strip():
        raise UsageError("the prompt is empty")
    return word


def _enter(source: Source, which: str | None, last: bool, folder: str | None) -> str:
    """Open the session that is meant, and return its id; "" where it is not known before a turn."""
    from ..errors import UsageError
    from ..sources.choosing import chosen, newest_first, usable

    if which is not None:
        (info,) = chosen(source, [which], folder)
        source.enter(usable(info))
        return info.session_id
    if not last:
        return source.enter_configured()
    if folder is None:
        newest = next((info for info in newest_first(source, None) if info.problem is None), None)
        found = None if newest is None else newest.session_id
        if newest is not None:
            source.enter(newest)
    else:
        found = source.enter_last(folder)
    if found is None:
        raise UsageError(_nothing(source, folder))
    return found


def _tell_session(source: Source, asked: str) -> None:
    session_id = source.session_id
    if session_id is not None:
        _say(f"session: {session_id}{f' (asked for: {asked})' if asked not in ('', session_id) else ''}")


def _agreed(source: Source, infos: Sequence[SessionInfo]) -> bool:
    from ..errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on whether they are to go for good: add --yes")
    for info in infos:
        _say(" ".join(filter(None, (info.session_id, info.title))))
    many = "this session" if len(infos) == 1 else f"these {len(infos)} sessions"
    _say(f"delete {many} of {source.name} for good? y or n:")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _nothing(source: Source, folder: str | None) -> str:
    where = f" in {folder}; --all looks in every folder" if folder is not None else ""
    return f"{source.name} has no session{where}"


def _say(line: str) -> None:
    from .._printable import one_line

    print(one_line(line), file=sys.stderr)
