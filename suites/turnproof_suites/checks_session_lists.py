"""Lists of an agent's sessions, forks and deletions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.scenarios.model import EVERYWHERE, NOBODY

from .agent_runs import (
    CHANGING,
    AgentTurn,
    SessionAction,
    actions_on_nobody,
    agent_turns,
    session_actions,
    session_value,
)
from .phrases import ERROR_AND_MESSAGE, IN_ORDER_AMONG_THE_MESSAGES, SENT_TEXTS
from .quoted_texts import Quote
from .words import without_blanks


def _lists(view: View) -> Iterator[tuple[SessionAction, AgentTurn]]:
    return ((action, turn) for action, turn in session_actions(view, "list") if action.event.outcome == "done")


def _at_entries(action: SessionAction, session: str) -> list[Place]:
    """Where a list has a session."""
    return [action.at("listed", n) for n, entry in enumerate(action.event.listed) if entry.session == session]


_UNLISTED = finding(
    "sessions/list-has-every-session/missing",
    "A session is missing from the list.",
    "the session {expected}",
    "a list of {observed}",
)
_LISTED_TWICE = finding(
    "sessions/list-has-every-session/twice",
    "A session is in the list more than once.",
    "the session {session} once",
    "{observed} times",
)


@check("sessions/list-has-every-session", needs="wire")
def list_has_every_session(view: View) -> Findings:
    """Each in which something was said in the folder that was asked for, once, on whichever page."""
    for action, turn in _lists(view):
        where, folders = action.folder, turn.folders
        undamaged = [label for label in turn.known_sessions if label not in turn.damaged_sessions]
        expected = [label for label in undamaged if where == EVERYWHERE or folders.get(label) == where]
        count = Counter(entry.session for entry in action.event.listed)
        missing = [label for label in expected if not count[label]]
        twice = [label for label, times in count.items() if times > 1]
        for label in missing:
            yield _UNLISTED(action.at("listed"), expected=label, observed=list(count))
        for label in twice:
            first, *others = _at_entries(action, label)
            yield _LISTED_TWICE(
                others[0], expected=1, observed=count[label], related=(first, *others[1:]), session=label
            )
        if expected and not missing and not twice:
            yield Compared("lists of sessions")


_OTHER_FOLDER = finding(
    "sessions/list-is-of-the-folder-asked-for/other-folder",
    "The list of a folder has a session of another one.",
    "only sessions of the folder {folder}",
    "the session {observed} of another folder",
)


@check("sessions/list-is-of-the-folder-asked-for", needs="wire")
def list_is_of_the_folder_asked_for(view: View) -> Findings:
    """None of another folder; and where none was begun, none."""
    for action, turn in _lists(view):
        where, folders = action.script.cwd, turn.folders
        if where is None or where == EVERYWHERE:
            continue
        strange = [
            (number, entry.session)
            for number, entry in enumerate(action.event.listed)
            if folders.get(entry.session) not in (where, None) or entry.cwd not in (where, "")
        ]
        for number, label in strange:
            yield _OTHER_FOLDER(action.at("listed", number), observed=label, folder=where)
        if not strange:
            yield Compared("lists of a folder")


_NO_TIME = finding(
    "sessions/list-tells-when/missing",
    "The list lacks the time at which a session was updated.",
    "a time for the session {session}",
    "none",
)
_WRONG_NEWEST = finding(
    "sessions/list-tells-when/wrong-newest",
    "By its times the list has another newest session.",
    "{expected} as the session that was updated last",
    "{observed}",
)


@check("sessions/list-tells-when", needs="wire")
def list_tells_when(view: View) -> Findings:
    """When something was last said in each, and so which is the newest."""
    for action, turn in _lists(view):
        own_entries = [entry for entry in action.event.listed if entry.session in turn.known_sessions]
        untold = list(dict.fromkeys(entry.session for entry in own_entries if entry.age is None))
        newest = min(own_entries, key=lambda entry: entry.age or 0, default=None)
        last = next(
            (label for label in reversed(turn.known_sessions) if any(one.session == label for one in own_entries)), None
        )
        for label in untold:
            yield _NO_TIME(_at_entries(action, label)[0], session=label)
        if untold or newest is None:
            continue
        if newest.session != last and _has_time_between(view, turn):
            place = _at_entries(action, newest.session)[0]
            yield _WRONG_NEWEST(place, expected=last, observed=newest.session)
        else:
            yield Compared("times in lists")


def _has_time_between(view: View, until: AgentTurn) -> bool:
    """Whether a moment passed whenever another session was spoken in: clocks may be coarse."""
    before = [turn for turn in agent_turns(view) if turn.view.index < until.view.index]
    changes = [later for turn, later in pairwise(before) if later.session != turn.session]
    return bool(changes) and all(any(action.script.do == "later" for action in turn.steps) for turn in changes)


_SESSION_CHANGED = finding(
    "sessions/listing-changes-nothing/session-changed",
    "Another session is open after a list of sessions.",
    "the session {expected}, as before",
    "{observed}",
)


@check("sessions/listing-changes-nothing", needs="wire")
def listing_changes_nothing(view: View) -> Findings:
    """What is open stays open. Where nothing is, the program may begin a session for it."""
    for action, turn in _lists(view):
        was, now = action.event.was, action.event.now
        if now != was and (was is not None or now in turn.known_sessions):
            yield _SESSION_CHANGED(action.at("now"), expected=session_value(was), observed=session_value(now))
        else:
            yield Compared("lists")


_MODEL_ASKED = finding(
    "sessions/listing-asks-no-model/model-asked",
    "The agent asks the model for a list of sessions.",
    "no request to the model",
    "one to {observed}",
)


@check("sessions/listing-asks-no-model", needs="wire")
def listing_asks_no_model(view: View) -> Findings:
    """It costs nothing to look."""
    for action, _ in _lists(view):
        generating_exchanges = [one for one in action.step.exchanges if one.generates]
        for exchange in generating_exchanges:
            yield _MODEL_ASKED(exchange.at(), observed=exchange.request.path, related=(action.at(),))
        if not generating_exchanges:
            yield Compared("lists")


# -- forks --------------------------------------------------------------------------------------------------


_FORK_REFUSED = finding(
    "sessions/fork-has-an-id-of-its-own/refused",
    "The agent does not fork a session.",
    "a fork of the session {origin}",
    ERROR_AND_MESSAGE,
)
_FORK_WITHOUT_ID = finding(
    "sessions/fork-has-an-id-of-its-own/no-own-id",
    "A fork does not have its own id.",
    "an id other than {origin}, that of the origin",
    "{observed}",
)
_FORK_NOT_OPEN = finding(
    "sessions/fork-has-an-id-of-its-own/wrong-session",
    "Another session than the fork is open after its turn.",
    "the fork {expected}",
    "{observed}",
)


@check("sessions/fork-has-an-id-of-its-own", needs="wire")
def fork_has_an_id_of_its_own(view: View) -> Findings:
    """Told at once, and the one that is open afterwards."""
    for action, turn in session_actions(view, "fork"):
        event = action.event
        if event.outcome == "refused":
            yield _FORK_REFUSED.of_error(action.at("error"), event, origin=event.was)
        elif event.returned is None or event.returned == event.was:
            yield _FORK_WITHOUT_ID(action.at("returned"), observed=session_value(event.returned), origin=event.was)
        elif turn.session != event.returned:
            yield turn.session_finding(_FORK_NOT_OPEN, event.returned, action.at("returned"))
        else:
            yield Compared("forks")


_FORK_LACKS = finding(
    "sessions/fork-knows-what-was-said/text-missing",
    "A request in a fork lacks a text of its origin.",
    IN_ORDER_AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/fork-knows-what-was-said", needs="wire")
def fork_knows_what_was_said(view: View) -> Findings:
    """All of its origin, up to the fork."""
    for action, turn in session_actions(view, "fork"):
        origin_texts = turn.known_sessions.get(action.event.was or "", ())
        if action.event.outcome != "done" or not origin_texts or turn.request is None:
            continue
        missing = turn.missing_texts(origin_texts)
        yield from turn.missing_findings(_FORK_LACKS, missing)
        if not missing:
            yield Compared("requests in forks")


_LEAKED = finding(
    "sessions/fork-leaves-its-origin-alone/foreign-text",
    "A request in a session has a text of its fork.",
    "only texts of the session {session}",
    "the text {observed} of the fork {fork}",
)


@check("sessions/fork-leaves-its-origin-alone", needs="wire")
def fork_leaves_its_origin_alone(view: View) -> Findings:
    """What is said in a fork is not in the session that it was made of."""
    forks: dict[str, str] = {}
    for turn in agent_turns(view):
        for action in turn.steps:
            if (
                action.script.do == "fork"
                and action.event.outcome == "done"
                and action.event.returned
                and action.event.was
            ):
                forks[action.event.returned] = action.event.was
        for fork, origin in forks.items():
            own_quotes = _own_quotes(turn, fork, origin)
            if turn.session != origin or not own_quotes or turn.request is None:
                continue
            sent = without_blanks(message.text for message in turn.request_messages)
            leaked = [quote for quote in own_quotes if quote.without_blanks in sent]
            yield from turn.foreign_findings(_LEAKED, leaked, session=origin, fork=fork)
            if not leaked:
                yield Compared("requests in the origins of forks")


def _own_quotes(turn: AgentTurn, fork: str, origin: str) -> list[Quote]:
    """What was said in a fork, and neither in its origin nor in this turn."""
    theirs = without_blanks(
        [*(quote.text for texts in turn.known_sessions.get(origin, ()) for quote in texts.all), turn.view.user_text]
    )
    return [
        quote
        for texts in turn.known_sessions.get(fork, ())
        for quote in texts.all
        if quote.without_blanks not in theirs
    ]


# -- deletions ----------------------------------------------------------------------------------------------

_NOT_DELETED = finding(
    "sessions/deleted-session-is-gone/refused",
    "The agent does not delete a session.",
    "the session {session} deleted",
    ERROR_AND_MESSAGE,
)
_DELETED_RESUMED = finding(
    "sessions/deleted-session-is-gone/resumed",
    "A deleted session is resumed.",
    "an error for the deleted session {session}",
    "none",
)
_DELETED_LISTED = finding(
    "sessions/deleted-session-is-gone/listed",
    "A deleted session is in the list.",
    "a list without the deleted session",
    "{observed} in it",
)


@check("sessions/deleted-session-is-gone", needs="wire")
def deleted_session_is_gone(view: View) -> Findings:
    """It is in no list, and cannot be resumed."""
    deleted_sessions: set[str] = set()
    for turn in agent_turns(view):
        for action in turn.steps:
            label = action.script.session or ""
            if action.script.do == "delete" and label != NOBODY:
                if action.event.outcome == "refused":
                    error, message = action.event.error, action.event.message
                    yield _NOT_DELETED(action.at("error"), observed=error, message=message, session=label)
                else:
                    deleted_sessions.add(label)
            elif action.script.do == "resume" and label in deleted_sessions:
                if action.event.outcome == "done":
                    yield _DELETED_RESUMED(action.at("outcome"), session=label)
                else:
                    yield Compared("deleted sessions")
            elif action.script.do == "list" and deleted_sessions and action.event.outcome == "done":
                yield from _deleted_in_list(action, deleted_sessions)


def _deleted_in_list(action: SessionAction, deleted_sessions: set[str]) -> Iterator[Finding | Compared]:
    still = list(dict.fromkeys(entry.session for entry in action.event.listed if entry.session in deleted_sessions))
    for label in still:
        yield _DELETED_LISTED(_at_entries(action, label)[0], observed=label)
    if not still:
        yield Compared("lists after a deletion")


_OTHER_OPEN = finding(
    "sessions/deleting-leaves-the-others/session-changed",
    "Another session is open after a deletion.",
    "the session {expected}, as before",
    "{observed}",
)
_OTHER_LOST = finding(
    "sessions/deleting-leaves-the-others/text-missing",
    "After the deletion of another session the request lacks a text of the open one.",
    IN_ORDER_AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/deleting-leaves-the-others", needs="wire")
def deleting_leaves_the_others(view: View) -> Findings:
    """What is open stays so, with all that was said in it."""
    for turn in agent_turns(view):
        last = next(
            (one for one in reversed(turn.steps) if one.script.do in CHANGING and one.event.outcome == "done"), None
        )
        if last is None or last.script.do != "delete" or turn.request is None:
            continue
        if last.event.was in (None, last.script.session):
            continue
        if turn.session != last.event.was:
            yield turn.session_finding(_OTHER_OPEN, last.event.was, last.at())
        elif missing := turn.missing_texts(turn.earlier_turns):
            yield from turn.missing_findings(_OTHER_LOST, missing)
        else:
            yield Compared("sessions beside a deleted one")


_UNKNOWN_DELETED = finding(
    "sessions/deleting-an-unknown-one-is-refused/accepted",
    "Deleting an unknown session raises no error.",
    "an error",
    "none",
)


@check("sessions/deleting-an-unknown-one-is-refused", needs="wire")
def deleting_an_unknown_one_is_refused(view: View) -> Findings:
    """Whoever mistypes an id should hear of it."""
    for action, _ in actions_on_nobody(view, "delete"):
        if action.event.outcome == "refused":
            yield Compared("deletions of unknown sessions")
        else:
            yield _UNKNOWN_DELETED(action.at("outcome"))
