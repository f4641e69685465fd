"""What hooks make of the user's messages before they are sent."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View

from .phrases import AMONG_THE_MESSAGES, SENT_TEXTS
from .quoted_texts import at_messages, sent_messages
from .steps import turns_done
from .words import times_users_say, users_say

_OTHER_TEXT = finding(
    "history/prompts-are-enriched-in-order/other-text",
    "A message of the user is not what the hooks make of it, one after the other.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("history/prompts-are-enriched-in-order", needs="wire")
def prompts_are_enriched_in_order(view: View) -> Findings:
    """Each request has what the user says in this turn, as the hooks leave it in order of their priority."""
    for step in turns_done(view) if view.scenario.enrichers else ():
        expected = view.scenario.enriched(step.turn.user_text)
        for exchange in step.generated:
            sent = sent_messages(exchange)
            if users_say(sent, expected):
                yield Compared("enriched messages")
            else:
                texts = [message.text for message in sent if message.role == "user" and message.text]
                yield _OTHER_TEXT(at_messages(exchange), expected=expected, observed=texts)


_AGAIN = finding(
    "history/prompts-are-enriched-once/again",
    "A message of the user is enriched more than once.",
    "the text {text} in at most {expected} messages",
    "it {observed} times",
)


@check("history/prompts-are-enriched-once", needs="wire")
def prompts_are_enriched_once(view: View) -> Findings:
    """What a hook adds stands in a request at most once for each message of the user."""
    added = [change.adds for change in view.scenario.enrichers if change.adds is not None]
    for step in turns_done(view):
        for exchange in step.generated if added else ():
            sent = sent_messages(exchange)
            wrong = False
            for text in added:
                if (times := times_users_say(sent, text)) > step.turns_before + 1:
                    wrong = True
                    yield _AGAIN(at_messages(exchange), text=text, expected=step.turns_before + 1, observed=times)
            if not wrong:
                yield Compared("enriched messages")
