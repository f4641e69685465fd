"""Checks of an agent's sessions accuse nobody who is right: each beside the smallest change that they are there for.

Programs say more than they were told, users repeat themselves, and other sessions have the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status, Verdict
from turnproof.judge.view import View
from turnproof.messages import Message, TokenUsage
from turnproof.run.transcript import Killed, SessionListed, UsageReport, WireRequest
from turnproof_suites.agent_runs import agent_turns

from .agent_runs import Say, conversation, done
from .build import RunBuilder, scripted
from .cases import points_to_something, suite

SYSTEM = "You keep a greenhouse log."
FILLER = Message.model("No response requested.")


def pair(user: str, answer: str) -> list[Message]:
    return [Message.user(user), Message.model(answer)]


BEDS = pair("Bed 1 was sown in March.", "Bed 1, in March.")
HOSE = pair("The hose leaks at the tap.", "I will see to it.")

FIRST = Say("Bed 1 was sown in March.", "Bed 1, in March.")
SECOND = Say("The hose leaks at the tap.", "I will see to it.", "second", (done("new", label="second"),))
AGAIN = (done("open", session="first"),)
RESUMED = (done("resume", session="first"),)
LATER = done("later")


def verdict(requirement: str, view: View) -> Verdict:
    return judge(suite().catalogue[f"sessions/{requirement}"], view.key.path, [view])


@dataclass(frozen=True)
class Both:
    """A run of somebody who is right, and one that differs in what the requirement is about."""

    id: str
    requirement: str
    right: View
    wrong: View
    message: str
    code: str


CASES = [
    Both(
        "filler-between-turns",
        "resume-brings-back-what-was-said",
        conversation(FIRST, Say("When?", "In March.", steps=AGAIN, sent=[*BEDS, Message.user("Go on."), FILLER])),
        conversation(FIRST, Say("When?", "In March.", steps=AGAIN, sent=[Message.user("Go on."), FILLER])),
        'got messages with the texts ["Go on.", "No response requested.", "When?"]', "missing",
    ),
    Both(
        "user-who-repeats-a-word",
        "resume-brings-back-what-was-said",
        conversation(Say("Yes.", "Good."), Say("Yes.", "Fine."), Say("Yes.", "So be it.", steps=AGAIN)),
        conversation(
            Say("Yes.", "Good."),
            Say("Yes.", "So be it.", steps=AGAIN, sent=[*pair("Yes.", "Good."), *pair("Yes.", "Good.")]),
        ),
        'expected the text "Yes." as often as the user sent it (2);', "twice",
    ),
    Both(
        "model-that-says-it-after-the-user",
        "resume-brings-back-what-was-said",
        conversation(Say("Forty trees.", "Forty trees. I see."), Say("How many?", "Forty.", steps=AGAIN)),
        conversation(
            Say("Forty trees.", "I see."),
            Say("How many?", "40.", steps=AGAIN, sent=[*pair("Forty trees.", "I see."), Message.user("Forty trees.")]),
        ),
        'expected the text "Forty trees." as often as the user sent it (1);', "twice",
    ),
    Both(
        "words-that-both-sessions-have",
        "sessions-stay-apart",
        conversation(
            Say("Beans", "Noted."),
            Say("We grow beans. Beans grow.", "I see. Noted. Well.", "second", (done("new", label="second"),)),
            Say("And peas.", "Noted.", "second"),
        ),
        conversation(FIRST, SECOND, Say("And the pump?", "Too.", "second", sent=[*BEDS, *HOSE])),
        'got the text "Bed 1 was sown in March." of another session', "foreign-text",
    ),
    Both(
        "same-words-in-the-system-text",
        "sessions-stay-apart",
        conversation(Say(SYSTEM, "So I do."), SECOND, Say("And the pump?", "Too.", "second"), system=SYSTEM),
        conversation(FIRST, SECOND, Say("Bed 2?", "Too.", "second", sent=[*BEDS, *HOSE]), system=SYSTEM),
        'got the text "Bed 1 was sown in March." of another session', "foreign-text",
    ),
    Both(
        "same-words-held",
        "local-history-is-the-open-sessions",
        conversation(
            Say("Beans", "Noted."),
            Say("Beans and peas.", "Noted. Well.", "second", (done("new", label="second"),)),
        ),
        conversation(FIRST, SECOND, Say("And the pump?", "Too.", "second", history=[*BEDS, *HOSE])),
        'got the text "Bed 1 was sown in March." of another session', "foreign-text",
    ),
    Both(
        "answer-that-comes-again",
        "resumed-history-is-no-new-output",
        conversation(Say("Where?", "To the west."), Say("Where again?", "To the west.", steps=AGAIN)),
        conversation(Say("Where?", "To the west."), Say("How far?", "Nine.", steps=AGAIN, reply="To the west.Nine.")),
        'got "To the west.Nine.", with the earlier text "To the west."', "shown-again",
    ),
    Both(
        "answer-shown-twice",
        "resumed-history-is-no-new-output",
        conversation(Say("Where?", "West."), Say("Where again?", "West.", steps=AGAIN)),
        conversation(Say("Where?", "West."), Say("Where again?", "West.", steps=AGAIN, reply="West.West.")),
        'got "West.West.", with the earlier text "West."', "shown-again",
    ),
    Both(
        "user-who-quotes-the-system-text",
        "system-text-is-sent-once",
        conversation(Say(f"Was it {SYSTEM!r}?", "It was."), Say("Good.", "Yes."), system=SYSTEM),
        conversation(Say("Good.", "Yes.", sent=[Message.user(SYSTEM), FILLER]), system=SYSTEM),
        'expected the system text "You keep a greenhouse log." once;', "wrong-count",
    ),
    Both(
        "resume-of-nobody-at-the-start",
        "refused-resume-changes-nothing",
        conversation(
            Say("Hello.", "Hi.", steps=(done("resume", "refused", session="nobody", now=None, typed=True),)),
        ),
        conversation(
            FIRST,
            Say("Hello.", "Hi.", "other-1", (done("resume", "refused", session="nobody", now="first", typed=True),)),
        ),
        'got "other-1"', "session-changed",
    ),
    Both(
        "last-of-the-folder-that-is-named",
        "continue-takes-the-last-updated",
        conversation(
            FIRST,
            Say("The barn is old.", "Very.", "second", (done("open", cwd="elsewhere", label="second"),)),
            Say("When?", "In March.", steps=(done("open", last=True, cwd="project"),)),
        ),
        conversation(
            FIRST, SECOND, Say("What leaks?", "Nothing.", steps=(done("open", last=True, cwd="project"),)),
        ),
        'expected the session "second";', "wrong-session",
    ),
    Both(
        "going-back-to-its-own-folder",
        "continue-stays-in-its-folder",
        conversation(
            FIRST,
            Say("The barn is old.", "Very.", "second", (done("open", last=True, cwd="elsewhere", label="second"),)),
            Say("When?", "In March.", steps=(done("open", last=True, cwd="project"),)),
        ),
        conversation(FIRST, Say("The barn is old.", "Very.", steps=(done("open", last=True, cwd="elsewhere"),))),
        'got the session "first" of another folder', "other-folder",
    ),
    Both(
        "later-turn-that-is-whole",
        "damaged-session-is-no-empty-one",
        conversation(
            FIRST, Say("Bed 2 in April.", "Bed 2, noted."), SECOND,
            Say("Well?", "Well.", steps=(done("damage", session="first"), *RESUMED),
                sent=pair("Bed 2 in April.", "Bed 2, noted.")),
        ),
        conversation(
            FIRST, Say("Bed 2 in April.", "Bed 2, noted."), SECOND,
            Say("Well?", "Well.", steps=(done("damage", session="first"), *RESUMED), sent=[]),
        ),
        'got messages with the texts ["Well?"]', "empty",
    ),
    Both(
        "damaged-one-not-listed",
        "list-has-every-session",
        conversation(
            FIRST, SECOND,
            Say("Well?", "Well.", "second", (done("damage", session="first"),
                done("list", listed=(SessionListed(session="second", cwd="project"),)))),
        ),
        conversation(
            FIRST, SECOND,
            Say("Well?", "Well.", "second", (done("list", listed=(SessionListed(session="second", cwd="project"),)),)),
        ),
        'got a list of ["second"]', "missing",
    ),
    Both(
        "coarse-clock",
        "list-tells-when",
        conversation(FIRST, SECOND, Say("Well?", "Well.", "second", (done("list", listed=(
            SessionListed(session="first", age=0), SessionListed(session="second", age=0))),))),
        conversation(FIRST, Say("The hose leaks.", "So.", "second", (LATER, done("new", label="second"))),
            Say("Well?", "Well.", "second", (done("list", listed=(
            SessionListed(session="first", age=0), SessionListed(session="second", age=1))),))),
        'expected "second" as the session that was updated last;', "wrong-newest",
    ),
    Both(
        "another-one-opened-after-a-deletion",
        "deleting-leaves-the-others",
        conversation(
            FIRST, Say("Bed 2.", "Well.", "other", (done("new", label="other"),)), SECOND,
            Say("So?", "So.", "second", (done("delete", session="first"),)),
            Say("So?", "So.", "third", (done("delete", session="other", now="second"), done("new", label="third"))),
        ),
        conversation(FIRST, SECOND, Say("Well?", "Well.", "third", (done("delete", session="first", now="second"),))),
        'expected the session "second", as before;', "session-changed",
    ),
    Both(
        "words-of-a-fork-that-the-user-says-again",
        "fork-leaves-its-origin-alone",
        conversation(
            FIRST, Say("Pumpkins?", "Too large.", "branch", (done("fork", label="branch", returned="branch"),)),
            Say("Pumpkins? No.", "No.", steps=RESUMED),
        ),
        conversation(
            FIRST, Say("Pumpkins?", "Too large.", "branch", (done("fork", label="branch", returned="branch"),)),
            Say("When?", "In March.", steps=RESUMED, sent=[*BEDS, *pair("Pumpkins?", "Too large.")]),
        ),
        'got the text "Pumpkins?" of the fork "branch"', "foreign-text",
    ),
    Both(
        "killed-in-one-of-two-sessions",
        "earlier-turns-survive-a-kill",
        conversation(FIRST, SECOND, Say("Say it.", "It leaks.", "second", events=(Killed(at="text", processes=1),)),
            Say("What leaks?", "The hose.", "second")),
        conversation(FIRST, SECOND, Say("Say it.", "It leaks.", "second", events=(Killed(at="text", processes=1),)),
            Say("What leaks?", "The hose.", "second", sent=[])),
        'got messages with the texts ["What leaks?"]', "text-missing",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_whoever_is_right_is_not_accused(case: Both) -> None:
    good_verdict = verdict(case.requirement, case.right)
    assert good_verdict.status is Status.HELD, good_verdict


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_whoever_is_wrong_is(case: Both) -> None:
    found = verdict(case.requirement, case.wrong)
    assert found.status is Status.VIOLATED, found
    assert case.message in suite().registry.message(found)
    assert found.findings[0].code == f"sessions/{case.requirement}/{case.code}"
    for finding in found.findings:
        points_to_something(finding, case.wrong)


def test_what_is_opened_after_a_resume_is_not_what_was_resumed() -> None:
    steps = (done("resume", session="first", now="first"), done("new", label="third", now=None))
    view = conversation(FIRST, SECOND, Say("Hello.", "Hi.", "third", steps))
    for name in ("resume-keeps-the-id", "resume-brings-back-what-was-said", "resume-restores-local-history"):
        assert verdict(name, view).compared_nothing, name


def test_a_damaged_session_is_not_asked_to_be_whole_in_any_later_turn() -> None:
    damaged = Say("Well?", "Well.", "second", (done("damage", session="first"),))
    view = conversation(FIRST, SECOND, damaged, Say("When?", "I do not know.", steps=AGAIN, sent=[]))
    assert verdict("resume-brings-back-what-was-said", view).compared_nothing


def reported(prompt: int, output: int) -> View:
    """A turn before which the agent asks the model for a title, and what it tells of figures."""
    builder = RunBuilder(scripted(["Hello."], user="Hi."), system=None)
    builder.turn("Hi.").call("A greeting")
    builder.history.pop()
    aside = next(number for number, event in enumerate(builder.events) if isinstance(event, WireRequest))
    builder.events[aside] = replace(builder.events[aside], extra=True)
    builder.call("Hello.")
    builder.add(UsageReport(usage=TokenUsage(prompt, output, prompt + output), turn=0))
    return builder.end().view()


def test_figures_are_right_with_and_without_what_the_agent_asked_for_itself() -> None:
    (turn,) = agent_turns(reported(0, 0))
    usages = [one.answer.usage for one in turn.step.answers if one.answer is not None and one.answer.usage is not None]
    aside, own = ((one.prompt_tokens, one.output_tokens) for one in usages)
    both = (aside[0] + own[0], aside[1] + own[1])
    assert len({aside, own, both}) == 3
    for right in (own, both):
        assert verdict("usage-is-of-the-turn", reported(*right)).status is Status.HELD
    for wrong in (aside, (both[0] + own[0], both[1] + own[1])):
        assert verdict("usage-is-of-the-turn", reported(*wrong)).status is Status.VIOLATED
