"""`turnproof sessions`: list, show, resume and delete the sessions of an agent or a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..._base.exit_codes import Exit
from ...errors import UsageError
from . import completion
from .options import names_option
from .session_options import (
    BaseURL,
    Cwd,
    Everywhere,
    Home,
    Json,
    Options,
    Store,
    exactly_one,
    folder_of,
    open_source,
    require_agent,
    session_and_prompt,
    source_options,
)

if TYPE_CHECKING:
    from ..session_sources.source import Source

sessions = typer.Typer(
    help="List, show, resume and delete the sessions of an agent.",
    epilog=(
        "AGENT is an installed name (turnproof list agents) or module:attribute, perhaps with =MODEL. An ID may be its "
        "beginning, or a number as listed: 1 is the newest. Keys come from the environment: TURNPROOF_API_KEY, or the "
        "service's own variable."
    ),
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@sessions.callback(invoke_without_command=True)
def _which_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        raise UsageError("which command? list, info, resume or delete; `turnproof sessions --help` has what each does")


@sessions.command("list")
def list_(
    agent: Annotated[str | None, typer.Argument(autocompletion=completion.agents, show_default=False)] = None,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the newest N.")] = None,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """List sessions, the newest first.

    What cannot be resumed is listed with the reason.
    """
    from ..session_sources.prompts import print_note
    from ..session_sources.select_session import newest_first, nothing
    from ..session_sources.text import list_json, print_list

    if agent is not None and store is not None:
        raise UsageError("AGENT or --store: use one of them")
    rest = require_agent([agent] if agent else [], store, "")
    with open_source(rest, store, source_options(cwd, home, base_url, option)) as (source, _):
        folder = folder_of(store, cwd, everywhere)
        found = newest_first(source, folder)[:limit]
        if json:
            sys.stdout.write(list_json(found))
        elif found:
            print_list(found)
        if not found:
            print_note(nothing(source, folder))


@sessions.command()
def info(
    words: Annotated[
        list[str] | None, typer.Argument(autocompletion=completion.first_agent, metavar="AGENT ID", show_default=False)
    ] = None,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Show what is known about a session, and its messages.

    An agent resumes the session for that, without a turn.
    """
    from ..session_sources.prompts import print_note
    from ..session_sources.select_session import select_sessions, usable
    from ..session_sources.text import info_json, print_info

    rest = require_agent(words, store, "ID")
    with open_source(rest, store, source_options(cwd, home, base_url, option)) as (source, rest):
        (found,) = select_sessions(source, exactly_one(rest, store), folder_of(store, cwd, everywhere))
        can = source.can
        messages = source.look(usable(found)) if can.can_load and found.problem is None else None
        if json:
            sys.stdout.write(info_json(found, can, messages))
        else:
            print_info(found, can, messages or ())
        if messages is None:
            why = found.problem or f"{source.name} cannot load a session"
            print_note(f"its messages cannot be shown: {why}")
        elif not messages:
            print_note(f"{source.name} returns none of its messages")


@sessions.command()
def resume(
    words: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=completion.first_agent, metavar="AGENT [ID] [PROMPT]", show_default=False),
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="The session that was updated last, in place of an ID.")] = False,
    store: Store = None,
    adapter: Annotated[
        str | None,
        names_option(completion.adapters, "NAME", "With --store: the adapter that goes on, perhaps with =MODEL."),
    ] = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="The system text.")] = None,
    option: Options = None,
) -> Exit | None:
    """Go on with a session.

    Writes the answer to stdout as it arrives, and the session's id to stderr. Without a prompt, or with `-`, it is read
    from stdin. With --last, or with a session in the settings, a single word is the prompt. Ctrl-C cancels the turn and
    leaves a session that can be resumed.
    """
    from ..session_sources.prompts import prompt
    from ..session_sources.select_session import enter, select_sessions, usable
    from ..session_sources.terminal_turn import send_prompt

    rest = require_agent(words, store, "ID or --last")
    options = source_options(cwd, home, base_url, option, system=system, adapter=adapter)
    if adapter is not None and store is None:
        raise UsageError("--adapter goes with --store; an agent asks its own model")
    with open_source(rest, store, options, needs_key=True) as (source, rest):
        session, prompt_argument = session_and_prompt(rest, store, last=last, configured=source.is_configured)
        folder = folder_of(store, cwd, everywhere)
        found = None
        if session is not None:
            # Before a prompt is typed in vain.
            hint = "put the prompt in quotes, after an ID or --last"
            found = usable(*select_sessions(source, [session], folder, hint=hint))
        text = prompt(prompt_argument)
        requested = enter(source, found, last=last, cwd=folder)
        try:
            finished = send_prompt(source, text)
        finally:
            _print_session(source, requested)
    return None if finished else Exit.INTERRUPTED


@sessions.command()
def delete(
    words: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=completion.first_agent, metavar="AGENT ID...", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: Store = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    home: Home = None,
    base_url: BaseURL = None,
    option: Options = None,
) -> None:
    """Delete sessions permanently.

    Asks first, and prints the ids of those that are gone.
    """
    from ..session_sources.prompts import agrees, print_note
    from ..session_sources.select_session import select_sessions
    from ..session_sources.source import cannot

    rest = require_agent(words, store, "ID...")
    with open_source(rest, store, source_options(cwd, home, base_url, option)) as (source, rest):
        if not rest:
            raise UsageError("which session? name it by its id, or by its number in the list")
        if not source.can.can_delete:
            raise cannot(source.name, "delete sessions", source.can)
        found = select_sessions(source, rest, folder_of(store, cwd, everywhere), hint="nothing was deleted")
        if not yes and not agrees(source, found):
            print_note("nothing was deleted")
            return
        for one in found:
            source.delete(one)
            print(one.session_id)


def _print_session(source: Source, requested: str) -> None:
    from ..session_sources.prompts import print_note

    session_id = source.session_id
    if session_id is not None:
        print_note(f"session: {session_id}{f' (requested: {requested})' if requested not in ('', session_id) else ''}")
