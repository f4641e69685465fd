"""How full the context is, by the session's own account, and by what its next request carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import FileRef, InlineData, Message, Thought
from turnproof.run.transcript import ContextReport
from turnproof.tokens import message_tokens

from .content import results_in
from .steps import Step, steps, unpaired
from .words import user_words, without_blanks

SHARE = 0.15
"""How far an account may be off, as a share of the prompt.

Nobody has the provider's tokenizer: what was added since its last report is estimated, by bytes as a rule, and code,
prose and other scripts take different numbers of tokens for a byte. What decides when history is collected is a
threshold some tenths below the window.
"""

TOKENS = 64
"""How far it may be off in a small prompt: frames, ids, a hidden preamble weigh more there than what is said."""

FRAME = 12
"""How far it may be off besides for each call and each result: every one has an id, a legal name and a frame around it,
and the model's account of its answer knows nothing of what goes back with it."""


_OFF = finding(
    "accounting/context-is-known/off",
    "The session's account of its context is not what the next request carries.",
    "about {expected} tokens, as the next request carries without its new message",
)


@check("accounting/context-is-known")
def context_is_known(view: View) -> Findings:
    """What the session says that it takes is what the next request carries, the new message left out."""
    for report, before, turn in _context_reports(view) if not _has_scripted_figures(view) else ():
        request = turn.generated[0]
        if not _comparable(before, turn, request):
            continue
        carried = _prompt_tokens(view, request) - _new(turn)
        framed = sum(len(message.calls) + len(message.results) for message in before.history)
        if abs(report.tokens - carried) <= max(TOKENS, SHARE * carried) + FRAME * framed:
            yield Compared("accounts of the context")
        else:
            place = before.turn.at_event(report, "tokens")
            yield _OFF(place, expected=carried, observed=report.tokens, related=[request.at()])


_NOTHING_TAKEN = finding(
    "accounting/context-shrinks-with-a-collection/nothing",
    "The session reports an empty context, but has messages.",
    "more than {expected} tokens for {messages} messages",
)
_FIGURE_FELL = finding(
    "accounting/context-shrinks-with-a-collection/grown",
    "The session's account of its context is higher after a collection than before.",
    "at most {expected} tokens",
)
_NOT_SMALLER = finding(
    "accounting/context-shrinks-with-a-collection/not-smaller",
    "The session's account of its context is the same, though a collection removed messages.",
    "less than {expected} tokens, after a collection that removed {removed}",
)


@check("accounting/context-shrinks-with-a-collection")
def context_shrinks_with_a_collection(view: View) -> Findings:
    """Above nothing as long as something is held, not above what it was, and below it if something went."""
    last: int | None = None
    for step in steps(view) if not _has_scripted_figures(view) else ():
        report = step.first(ContextReport)
        if (
            step.kind == "gc"
            and report is not None
            and last is not None
            and step.history
            and not _has_new_settings(step)
        ):
            yield _wrong(last, report, step) or Compared("accounts after a collection")
        last = report.tokens if report is not None else last


def _wrong(before: int, report: ContextReport, step: Step) -> Finding | None:
    was, left = (sum(map(message_tokens, messages)) for messages in (step.history_before, step.history))
    now, place = report.tokens, step.turn.at_event(report, "tokens")
    if now <= 0:
        return _NOTHING_TAKEN(place, expected=0, observed=now, related=[step.at_history()], messages=len(step.history))
    if now > before and left <= was:
        return _FIGURE_FELL(place, expected=before, observed=now)
    if now == before and left < was - TOKENS:
        return _NOT_SMALLER(place, expected=before, observed=now, removed=was - left)
    return None


def _context_reports(view: View) -> Iterator[tuple[ContextReport, Step, Step]]:
    """Each last word of the session ahead of a turn that made a request, with the step it was said after."""
    last: tuple[ContextReport, Step] | None = None
    for step in steps(view):
        if step.kind == "turn" and last is not None and step.generated:
            yield *last, step
        report = step.first(ContextReport)
        last = (report, step) if report is not None else None


def _comparable(before: Step, turn: Step, request: Exchange) -> bool:
    """Whether the request carries what was held when the session spoke, and a ruler can measure that.

    It may collect ahead of a turn, and mend what it took over. Thinking may be held and left out of the prompt; a
    file's tokens are its service's secret.
    """
    script = turn.turn.script
    if script is None or _has_new_settings(turn) or request.call is None or unpaired(before.history):
        return False
    sent = user_words(request.call.messages)
    user_texts = [message.text for message in before.history if message.role == "user"]
    return not _beyond_a_ruler(before.history) and all(without_blanks([text]) in sent for text in user_texts)


def _has_new_settings(step: Step) -> bool:
    """Whether the turn came with another system text or other tools, which are part of the context."""
    script = step.turn.script
    return script is not None and (script.system is not None or script.tools is not None)


def _has_scripted_figures(view: View) -> bool:
    """Whether answers come with figures that the scenario makes up: no account can come true then."""
    return any(answer.usage for turn in view.scenario.turns for answer in turn.rounds)


def _beyond_a_ruler(messages: Iterable[Message]) -> bool:
    all_messages = list(messages)
    parts = [part for message in all_messages for part in message.parts]
    parts += [one for result in results_in(all_messages) for one in result.attachments]
    return any(isinstance(part, Thought | InlineData | FileRef) for part in parts)


def _prompt_tokens(view: View, request: Exchange) -> int:
    """Tokens of the whole prompt: by the provider's own word, as far as it gave one."""
    answer = request.answer if request.clean else None
    if answer is not None and answer.usage is not None and answer.usage.prompt_tokens:
        return answer.usage.prompt_tokens
    assert request.call is not None
    return view.dialect.count(request.call)


def _new(turn: Step) -> int:
    script = turn.turn.script
    return message_tokens(Message("user", script.user)) if script is not None and script.user else 0
