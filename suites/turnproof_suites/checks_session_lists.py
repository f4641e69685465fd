"""Lists of an agent's sessions, forks and deletions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from turnproof.requirements import Findings, check
from turnproof.scenarios.model import EVERYWHERE, NOBODY
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .kept import CHANGING, Done, Talk, done_with, talks
from .steps import bare


def _lists(view: View) -> Iterator[tuple[Done, Talk]]:
    return ((done, talk) for done, talk in done_with(view, "list") if done.event.outcome == "done")


@check("sessions/list-has-every-session", without_calls=True)
def list_has_every_session(view: View) -> Findings:
    """Each in which something was said in the folder that was asked for, once, on whichever page."""
    for done, talk in _lists(view):
        where, folders = done.folder, talk.folders
        whole = [label for label in talk.known if label not in talk.damaged]
        wanted = [label for label in whole if where == EVERYWHERE or folders.get(label) == where]
        count = Counter(entry.session for entry in done.event.listed)
        missing = [label for label in wanted if not count[label]]
        twice = [label for label, times in count.items() if times > 1]
        if missing:
            yield violated(f"{done.where}: session {missing[0]} is not in the list, which has {len(count)}")
        elif twice:
            yield violated(f"{done.where}: session {twice[0]} is in the list {count[twice[0]]} times")
        elif wanted:
            yield "lists of sessions"


@check("sessions/list-is-of-the-folder-asked-for", without_calls=True)
def list_is_of_the_folder_asked_for(view: View) -> Findings:
    """None of another folder; and where none was begun, none."""
    for done, talk in _lists(view):
        where, folders = done.wanted.cwd, talk.folders
        if where is None or where == EVERYWHERE:
            continue
        strange = [one.session for one in done.event.listed if folders.get(one.session) not in (where, None)]
        strange += [one.session for one in done.event.listed if one.cwd not in (where, "")]
        if strange:
            yield violated(f"{done.where}: the list of {where!r} has session {strange[0]} of another folder")
        else:
            yield "lists of a folder"


@check("sessions/list-tells-when", without_calls=True)
def list_tells_when(view: View) -> Findings:
    """When something was last said in each, and so which is the newest."""
    for done, talk in _lists(view):
        mine = [entry for entry in done.event.listed if entry.session in talk.known]
        untold = [entry.session for entry in mine if entry.age is None]
        newest = min(mine, key=lambda entry: entry.age or 0, default=None)
        last = next((label for label in reversed(talk.known) if any(one.session == label for one in mine)), None)
        spaced = _spaced(view, talk)
        if untold:
            yield violated(f"{done.where}: the list does not tell when session {untold[0]} was updated")
        elif newest is not None and spaced and newest.session != last:
            yield violated(f"{done.where}: by the list {newest.session} is the newest, and {last} was spoken in last")
        elif mine:
            yield "times in lists"


def _spaced(view: View, until: Talk) -> bool:
    """Whether a moment passed whenever another session was spoken in: clocks may be coarse."""
    before = [talk for talk in talks(view) if talk.turn.index < until.turn.index]
    changes = [later for talk, later in pairwise(before) if later.session != talk.session]
    return bool(changes) and all(any(done.wanted.do == "later" for done in talk.steps) for talk in changes)


@check("sessions/listing-changes-nothing", without_calls=True)
def listing_changes_nothing(view: View) -> Findings:
    """What is open stays open. Where nothing is, the program may begin a session for it."""
    for done, talk in _lists(view):
        was, now = done.event.was, done.event.now
        if now != was and (was is not None or now in talk.known):
            yield violated(f"{done.where}: {was} was open, and after the list {now} is")
        else:
            yield "lists"


@check("sessions/listing-asks-no-model", without_calls=True)
def listing_asks_no_model(view: View) -> Findings:
    """It costs nothing to look."""
    for done, _ in _lists(view):
        asked = [one for one in done.step.exchanges if one.generates]
        if asked:
            yield violated(f"{done.where}: for a list of sessions the model was asked {len(asked)} times")
        else:
            yield "lists"


# -- forks --------------------------------------------------------------------------------------------------


@check("sessions/fork-has-an-id-of-its-own", without_calls=True)
def fork_has_an_id_of_its_own(view: View) -> Findings:
    """Told at once, and the one that is open afterwards."""
    for done, talk in done_with(view, "fork"):
        event = done.event
        if event.outcome == "refused":
            yield violated(f"{done.where}: the session was not forked: {done.refused}")
        elif event.returned is None or event.returned == event.was:
            yield violated(f"{done.where}: the fork of {event.was} goes by the id of {event.returned or 'none'}")
        elif talk.session != event.returned:
            yield violated(f"{talk.where}: the fork is {event.returned}, and after its turn {talk.session} is open")
        else:
            yield "forks"


@check("sessions/fork-knows-what-was-said", without_calls=True)
def fork_knows_what_was_said(view: View) -> Findings:
    """All of its origin, up to the fork."""
    for done, talk in done_with(view, "fork"):
        said = talk.known.get(done.event.was or "", ())
        if done.event.outcome != "done" or not said or talk.asked is None:
            continue
        if missing := talk.lacks(said):
            yield violated(f"{talk.where}: the request in the fork lacks {show(missing)} of its origin")
        else:
            yield "requests in forks"


@check("sessions/fork-leaves-its-origin-alone", without_calls=True)
def fork_leaves_its_origin_alone(view: View) -> Findings:
    """What is said in a fork is not in the session that it was made of."""
    forks: dict[str, str] = {}
    for talk in talks(view):
        for done in talk.steps:
            if done.wanted.do == "fork" and done.event.outcome == "done" and done.event.returned and done.event.was:
                forks[done.event.returned] = done.event.was
        for fork, origin in forks.items():
            own = [text for said in talk.known.get(fork, ()) for text in said.all]
            theirs = [text for said in talk.known.get(origin, ()) for text in said.all]
            mine = [text for text in own if bare([text]) not in bare([*theirs, talk.turn.said])]
            if talk.session != origin or not mine or talk.asked is None:
                continue
            sent = bare(message.text for message in talk.sent)
            leaked = next((text for text in mine if bare([text]) in sent), "")
            if leaked:
                yield violated(f"{talk.where}: {show(leaked)} was said in the fork, and is sent in its origin")
            else:
                yield "requests in the origins of forks"


# -- deletions ----------------------------------------------------------------------------------------------


@check("sessions/deleted-session-is-gone", without_calls=True)
def deleted_session_is_gone(view: View) -> Findings:
    """It is in no list, and cannot be resumed."""
    gone: set[str] = set()
    for talk in talks(view):
        for done in talk.steps:
            label = done.wanted.session or ""
            if done.wanted.do == "delete" and label != NOBODY:
                if done.event.outcome == "refused":
                    yield violated(f"{done.where}: the session was not deleted: {done.refused}")
                else:
                    gone.add(label)
            elif done.wanted.do == "resume" and label in gone:
                if done.event.outcome == "done":
                    yield violated(f"{done.where}: session {label} was deleted, and it was resumed")
                else:
                    yield "deleted sessions"
            elif done.wanted.do == "list" and gone and done.event.outcome == "done":
                still = [entry.session for entry in done.event.listed if entry.session in gone]
                if still:
                    yield violated(f"{done.where}: session {still[0]} was deleted, and it is in the list")
                else:
                    yield "lists after a deletion"


@check("sessions/deleting-leaves-the-others", without_calls=True)
def deleting_leaves_the_others(view: View) -> Findings:
    """What is open stays so, with all that was said in it."""
    for talk in talks(view):
        last = next(
            (one for one in reversed(talk.steps) if one.wanted.do in CHANGING and one.event.outcome == "done"), None
        )
        if last is None or last.wanted.do != "delete" or talk.asked is None:
            continue
        if last.event.was in (None, last.wanted.session):
            continue
        if talk.session != last.event.was:
            yield violated(f"{talk.where}: another session was deleted, and {talk.session} is open now")
        elif missing := talk.lacks(talk.before):
            yield violated(f"{talk.where}: another session was deleted, and the request lacks {show(missing)}")
        else:
            yield "sessions beside a deleted one"


@check("sessions/deleting-an-unknown-one-is-refused", without_calls=True)
def deleting_an_unknown_one_is_refused(view: View) -> Findings:
    """Whoever mistypes an id should hear of it."""
    for done, _ in done_with(view, "delete"):
        if done.wanted.session != NOBODY:
            continue
        if done.event.outcome == "refused":
            yield "deletions of unknown sessions"
        else:
            yield violated(f"{done.where}: a session that there is not was deleted without an error")
