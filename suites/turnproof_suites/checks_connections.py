"""Connections: where requests go, by which connections, and what becomes of a call whose service falls silent."""

from __future__ import annotations

from itertools import pairwise, takewhile

from turnproof.dialects.base import SOCKET_METHOD
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, View
from turnproof.run.transcript import Retried, WireRequest

_ELSEWHERE = finding(
    "core/requests-go-to-the-address/elsewhere",
    "A service answered the call, and it was not the one at the address that the adapter was given.",
    "a request to the address that the adapter was opened with",
    "none, and {observed:words} with the status {status}: {message:words}",
)
_OTHER_PATH = finding(
    "core/requests-go-to-the-address/other-path",
    "The call made no request but to a path below its address that the API does not have.",
    "a request to a path of the API",
    "{observed:words}",
)


@check("core/requests-go-to-the-address")
def requests_go_to_the_address(view: View) -> Findings:
    """The whole of it: a gateway is a path on a host that serves others, too."""
    if not view.shows_calls:
        yield from _turns_at_the_address(view)
        return
    for call in view.calls:
        unknown = [exchange for exchange in call.exchanges if _is_unknown(exchange)]
        if call.generated:
            yield Compared("calls whose requests came")
        elif unknown:
            yield _OTHER_PATH(
                unknown[0].at(pointer=None), observed=f"{unknown[0].request.method} {unknown[0].request.path}"
            )
        elif call.failed is not None and call.failed.status is not None and not call.exchanges:
            failed = call.failed
            yield _ELSEWHERE(
                call.at(Side.ERROR, "status"), observed=failed.error, status=failed.status, message=failed.message
            )


def _turns_at_the_address(view: View) -> Findings:
    """The same of a session that shows no calls: what it sent in a turn, and how that turn failed."""
    for turn in view.turns:
        sent = view.exchanges_in(turn.events)
        unknown = [exchange for exchange in sent if _is_unknown(exchange)]
        if any(exchange.generates for exchange in sent):
            yield Compared("turns whose requests came")
        elif unknown:
            yield _OTHER_PATH(
                unknown[0].at(pointer=None), observed=f"{unknown[0].request.method} {unknown[0].request.path}"
            )
        elif turn.failed is not None and turn.failed.status is not None and not sent:
            failed = turn.failed
            place = turn.at(Side.ERROR, "status")
            yield _ELSEWHERE(place, observed=failed.error, status=failed.status, message=failed.message)


def _is_unknown(exchange: Exchange) -> bool:
    """Whether nobody at the service knows the path of the request."""
    return exchange.call is None and exchange.response is not None and exchange.response.status == 404


_WAITED = finding(
    "errors/silence-ends-the-call/waited",
    "The service was silent for longer than the timeout that was set, and the adapter went on waiting.",
    "a connection that the client closes after {expected} seconds of silence",
    "an open connection until the service itself gave up",
)


@check("errors/silence-ends-the-call", needs="wire")
def silence_ends_the_call(view: View) -> Findings:
    """By the adapter's own doing, before the server closes the connection, which it does long after the timeout."""
    timeout = view.scenario.options.get("timeout")
    for exchange in view.exchanges if timeout is not None else ():
        if exchange.response is None or exchange.response.fault != "stall":
            continue
        if exchange.response.ended == "timed-out":
            yield _WAITED(exchange.at(Side.STREAM), expected=timeout)
        else:
            yield Compared("calls to a silent service")


_EACH_ITS_OWN = finding(
    "core/connections-are-reused/each-its-own",
    "Each request came by a new connection, though the one before was whole and its connection open.",
    "a connection that serves more than one request",
    "{observed} connections for {requests} requests",
)


@check("core/connections-are-reused", needs="wire")
def connections_are_reused(view: View) -> Findings:
    """Of requests for answers in one piece, each after a whole answer to the one before, and of messages on a socket.

    Streams are left out, also those behind a call in one piece: openai 3.54 itself stops at the end marker and closes
    the connection.
    """
    generating_exchanges = [
        exchange for exchange in view.exchanges if exchange.generates and not exchange.request.probe
    ]
    followed = [
        (one, other) for one, other in pairwise(generating_exchanges) if _in_one_piece(one) and _numbers(one, other)
    ]
    if not followed:
        return
    reused = [other for one, other in followed if one.request.connection == other.request.connection]
    if reused:
        yield Compared("requests behind a whole answer")
    else:
        used = {exchange.request.connection for exchange in generating_exchanges}
        yield _EACH_ITS_OWN(followed[0][1].at(pointer=None), observed=len(used), requests=len(generating_exchanges))


def _in_one_piece(exchange: Exchange) -> bool:
    """Whether the answer came whole, and not as a stream of HTTP, behind which a client may close."""
    over_socket = exchange.request.method == SOCKET_METHOD
    return exchange.clean and (over_socket or [event.kind for event in exchange.events] == ["body"])


def _numbers(*exchanges: Exchange) -> bool:
    """Whether somebody counted the connections."""
    return all(exchange.request.connection is not None for exchange in exchanges)


_FAILED_AT_ONCE = finding(
    "errors/closed-idle-connections-fail-no-call/failed",
    "A call failed because the service had closed the idle connection of the call before.",
    "a request by a new connection",
    "{observed:words}: {message:words}",
)


@check("errors/closed-idle-connections-fail-no-call")
def closed_idle_connections_fail_no_call(view: View) -> Findings:
    """The request by which it is found out can be sent again: the service has read nothing of it."""
    if not view.shows_calls:
        yield from _turns_behind_a_closed_connection(view)
        return
    for before, call in view.pairs():
        if before.last is None or not _closed_behind(before):
            continue
        if call.generated and call.failed is None:
            yield Compared("calls behind a closed connection")
        elif call.failed is not None and not call.generated:
            failed = call.failed
            yield _FAILED_AT_ONCE.of_error(call.at(Side.ERROR, "error"), failed, related=(before.last.at(Side.STREAM),))


def _turns_behind_a_closed_connection(view: View) -> Findings:
    """The same of a session that shows no calls: what went wrong in a turn before it sent anything."""
    for before, turn in pairwise(view.turns):
        if not before.calls or not _closed_behind(before.calls[-1]) or before.calls[-1].last is None:
            continue
        events = list(takewhile(lambda event: not isinstance(event, WireRequest), turn.events))
        waits = (event for event in events if isinstance(event, Retried) and event.failure is not None)
        retried = next(waits, None)
        sent = len(events) < len(turn.events)
        related = (before.calls[-1].last.at(Side.STREAM),)
        if retried is not None and retried.failure is not None:
            place = turn.at_event(retried, "failure", "error")
            yield _FAILED_AT_ONCE.of_error(place, retried.failure, related=related)
        elif turn.failed is not None and not sent:
            yield _FAILED_AT_ONCE.of_error(turn.at(Side.ERROR, "error"), turn.failed, related=related)
        elif turn.failed is None and sent:
            yield Compared("turns behind a closed connection")


def _closed_behind(call: ProviderCall) -> bool:
    return (
        call.clean
        and call.last is not None
        and call.last.response is not None
        and (call.last.response.fault == "idle-close")
    )
