"""Conversations that the service keeps: what each request has to say again, and what may be named in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import Text
from turnproof.run.transcript import CallBegan

from .chains import Link, heads_of, is_at_hand, links
from .content import instructs, system_text
from .reading import requests_of

_OF_THE_ANSWER = frozenset({"include", "metadata", "prompt_cache_key", "store", "text", "user"})
"""Settings that do not change what the model says, and the form of an answer, which is asked for by turn."""

_INSTRUCTIONS = finding(
    "stored/instructions-go-out-with-every-request/missing",
    "A request that goes on from an answer lacks the instructions, which the service does not carry over.",
)
_NEW_INSTRUCTIONS = finding(
    "stored/changed-instructions-replace-the-old/other",
    "After the instructions changed, the request does not have just the new ones.",
)


@check("stored/instructions-go-out-with-every-request", needs="calls")
def instructions_go_out_with_every_request(view: View) -> Findings:
    """Of requests that go on from an answer, where the session has a system text."""
    for link in links(view):
        system = _system(link)
        if link.head is None or not system or _previous_system(view, link) not in (None, system):
            continue
        if instructs(link.request.wire, system):
            yield Compared("instructions of a chain")
        else:
            yield _INSTRUCTIONS(link.request.at(), expected=system, observed=system_text(link.request.wire) or "none")


@check("stored/changed-instructions-replace-the-old", needs="calls")
def changed_instructions_replace_the_old(view: View) -> Findings:
    """Of the first request after a change."""
    for link in links(view):
        system, before = _system(link), _previous_system(view, link)
        if not system or before is None or before == system:
            continue
        sent = system_text(link.request.wire)
        if instructs(link.request.wire, system) and (before in system or before not in sent):
            yield Compared("changed instructions")
        else:
            yield _NEW_INSTRUCTIONS(link.request.at(), expected=system, observed=sent or "none")


def _system(link: Link) -> str:
    system = link.call.began.system
    return system.text if isinstance(system, Text) else system or ""


def _previous_system(view: View, link: Link) -> str | None:
    before = next((call for call in reversed(view.calls) if call.index < link.call.index), None)
    if before is None:
        return None
    system = before.began.system
    return system.text if isinstance(system, Text) else system or ""


_TOOLS = finding(
    "stored/tools-go-out-with-every-request/missing",
    "A request that goes on from an answer lacks tools, which the service does not carry over.",
    "the tools {expected}",
    "{observed}",
)
_NEW_TOOLS = finding(
    "stored/changed-tools-replace-the-old/other",
    "After the tools changed, the request does not have just the new ones.",
    "the tools {expected}",
    "{observed}",
)


@check("stored/tools-go-out-with-every-request", needs="calls")
def tools_go_out_with_every_request(view: View) -> Findings:
    """Of requests that go on from an answer, where the session has tools."""
    for link in links(view):
        expected, found = _tools(link)
        if link.head is None or not expected:
            continue
        if set(expected) <= set(found):
            yield Compared("tools of a chain")
        else:
            yield _TOOLS(link.request.at(), expected=expected, observed=found or "none")


@check("stored/changed-tools-replace-the-old", needs="calls")
def changed_tools_replace_the_old(view: View) -> Findings:
    """Of the first request after a change."""
    before: set[str] | None = None
    for link in links(view):
        expected, found = _tools(link)
        changed, before = before is not None and before != set(expected), set(expected)
        if not changed:
            continue
        if sorted(expected) == sorted(found):
            yield Compared("changed tools")
        else:
            yield _NEW_TOOLS(link.request.at("tools"), expected=expected, observed=found or "none")


def _tools(link: Link) -> tuple[list[str], list[str]]:
    """The names of the session's tools as they stand on the wire, and those of the request."""
    names = link.call.wire_names
    found = [tool.name for tool in link.request.wire.tools]
    return [names.get(tool.name, tool.name) for tool in link.call.began.tools], found


_SETTINGS = finding(
    "stored/settings-go-out-with-every-request/missing",
    "A request that goes on from an answer has other settings than the first one.",
    "{setting} = {expected}",
    "{observed}",
)


@check("stored/settings-go-out-with-every-request", needs="calls")
def settings_go_out_with_every_request(view: View) -> Findings:
    """Of requests that go on from an answer: what the first request set is set again."""
    first: Mapping[str, object] | None = None
    for link in links(view):
        settings = {
            name: value for name, value in link.request.wire.settings.items() if name not in _OF_THE_ANSWER and value
        }
        first = settings if first is None else first
        if link.head is None or not first:
            continue
        wrong = [name for name, value in first.items() if settings.get(name) != value]
        for name in wrong:
            observed = settings.get(name, "none")
            yield _SETTINGS(link.request.at(), expected=first[name], observed=observed, setting=name)
        if not wrong:
            yield Compared("settings of a chain")


# -- what is named


_NOT_STORED = finding(
    "stored/only-what-was-stored-is-named/not-stored",
    "The request names by its id something that the service did not store.",
    "the whole item, or the id of a stored one",
    "{observed}",
)


@check("stored/only-what-was-stored-is-named", needs="calls")
def only_what_was_stored_is_named(view: View) -> Findings:
    """Answers that are gone on from, and items that have an id and nothing else to read."""
    for link in links(view):
        earlier = (one for call in view.calls if call.index < link.call.index for one in call.generated)
        stored = {name for one in earlier for name in _names(one, link.request.exchange)}
        # A conversation that has something to go on from is there.
        head = None if link.request.wire.in_conversation or not _is_chain(view) else link.head
        named = (*link.request.wire.looked_up, *([] if head is None else [head]))
        wrong = [name for name in named if name not in stored]
        for name in wrong:
            yield _NOT_STORED(link.request.at("messages"), observed=name or "an item without an id")
        if not wrong:
            yield Compared("requests")


def _is_chain(view: View) -> bool:
    return view.key.path == "legacy"


def _names(earlier: Exchange, later: Exchange) -> tuple[str, ...]:
    """What a later request can name: all of a stored answer, and itself alone of one that the connection holds."""
    if earlier.answer is None or earlier.call is None or not is_at_hand(earlier, later):
        return ()
    return earlier.answer.names if earlier.call.kept_answer else earlier.answer.names[:1]


_NAMED = finding(
    "stored/a-session-owned-history-goes-on-from-nothing/head",
    "The session owns the history, and the request goes on from an answer at the service.",
    "a request with the whole conversation",
    "one that goes on from {observed}",
)


@check("stored/a-session-owned-history-goes-on-from-nothing", needs="calls")
def a_session_owned_history_goes_on_from_nothing(view: View) -> Findings:
    """Of every request of the stateless path."""
    for link in links(view):
        if link.head is None:
            yield Compared("requests")
        else:
            yield _NAMED(link.at_head(), observed=link.head)


_LEFT = finding(
    "stored/a-session-owned-history-leaves-nothing-behind/stored",
    "The session owns the history, and the service keeps an answer.",
    "nothing at the service",
    "{observed}",
)


@check("stored/a-session-owned-history-leaves-nothing-behind", needs="calls")
def a_session_owned_history_leaves_nothing_behind(view: View) -> Findings:
    """Seen at the service, after every request of the stateless path."""
    for link in links(view):
        exchange = link.request.exchange
        stored_ids = exchange.response.kept if exchange.response is not None else ()
        if stored_ids:
            yield _LEFT(exchange.at(), observed=len(stored_ids))
        elif exchange.answered:
            yield Compared("answers")


_CROSSED = finding(
    "stored/conversations-have-chains-of-their-own/crossed",
    "A request goes on from an answer of another conversation.",
    "an answer of its own conversation",
    "{observed}",
)


@check("stored/conversations-have-chains-of-their-own", needs="calls")
def conversations_have_chains_of_their_own(view: View) -> Findings:
    """Of a session and its child: neither goes on from what the other was told."""
    whose: dict[str, bool] = {}
    conversations = set()
    for one, is_child in _exchanges(view):
        conversations.add(is_child)
        head = one.call.resource if one.call is not None else None
        if head is not None and head in whose and whose[head] != is_child:
            yield _CROSSED(one.at(), observed=head)
        elif head is not None and len(conversations) > 1:
            yield Compared("requests of two conversations")
        for name in heads_of(one):
            whose[name] = is_child


def _exchanges(view: View) -> Iterator[tuple[Exchange, bool]]:
    """The requests of the session and of its child, in order, and whether each is the child's."""
    child = {event.call for event in view.transcript.of(CallBegan) if event.child and not event.probe}
    for one in view.exchanges:
        if one.generates and not one.request.probe:
            yield one, one.request.call in child


_OTHER_MODEL = finding(
    "stored/a-chain-stays-with-its-model/other-model",
    "A request goes on from an answer of another model.",
    "a request of {model} that goes on from its own answers, or from nothing",
    "one that goes on from an answer of {observed}",
)


@check("stored/a-chain-stays-with-its-model", needs="calls")
def a_chain_stays_with_its_model(view: View) -> Findings:
    """Of an object whose model was changed, asked directly."""
    issued: dict[str, str | None] = {}
    for one in view.exchanges:
        if not one.generates or one.call is None:
            continue
        model, head = one.call.model, one.call.resource
        if one.request.probe == "other-model" and model != view.transcript.model:
            if head is not None and issued.get(head, model) != model:
                yield _OTHER_MODEL(one.at(), observed=issued[head], model=model)
            else:
                yield Compared("requests after a change of the model")
        for name in heads_of(one):
            issued[name] = model


_LOST_WITH_THE_KEY = finding(
    "stored/another-key-loses-nothing/lost",
    "After a change of the key, the request that was accepted does not have all that was said.",
)
_UNTYPED_WITH_THE_KEY = finding(
    "stored/another-key-loses-nothing/untyped",
    "After a change of the key, the call failed with an error that says nothing.",
    "an answer, or a provider error",
    "{observed}",
)


@check("stored/another-key-loses-nothing", needs="calls", probe="other-key")
def another_key_loses_nothing(view: View) -> Findings:
    """Of an object whose key was changed, asked directly: the last request of the second call.

    An id of the first key is no offence where the call goes on without it: two keys may share what is kept.
    """
    for call in view.probes.get("other-key", ())[1:]:
        accepted = [one for one in requests_of(view, call) if one.exchange.answered]
        if accepted:
            link = Link(view, accepted[-1], frozenset(), None)
            yield from link.compared(_LOST_WITH_THE_KEY, link.losses(), "requests under another key")
        elif call.failed is not None and not call.failed.typed:
            yield _UNTYPED_WITH_THE_KEY(call.at(Side.ERROR, "error"), observed=call.failed.error)
        elif call.failed is not None:
            yield Compared("calls under another key")
