"""Secrets: the key goes into the header that is made for it, and nowhere else."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View

_AUTH_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_KEY_NAMES = frozenset({"key", "api_key", "apikey", "api-key", "x-api-key", "access_token", "token"})

_LEAKED = finding(
    "security/key-is-nowhere-else/leaked",
    "The key was found outside of the header that is made for it.",
    "the key in no other place",
    "the key in {observed}",
)


@check("security/key-is-nowhere-else", needs="wire")
def key_is_nowhere_else(view: View) -> Findings:
    """Not in another header, a body, an address, an error's text, a callback, a saved session or on standard output."""
    end = view.transcript.end
    for number, leak in enumerate(end.leaks):
        yield _LEAKED(view.at_event(end, "leaks", number), observed=leak)
    if not end.leaks and view.exchanges:
        yield Compared("everything recorded of the run")


_IN_ADDRESS = finding(
    "security/key-stays-out-of-addresses/key-parameter",
    "A request went to an address with a parameter for the key.",
    "an address without a key",
    "the parameter {observed}",
)


@check("security/key-stays-out-of-addresses", needs="wire")
def key_stays_out_of_addresses(view: View) -> Findings:
    """Addresses end up in logs, traces and exceptions."""
    for exchange in view.exchanges:
        names = {name.lower() for name, _ in parse_qsl(urlsplit(exchange.request.path).query, keep_blank_values=True)}
        found = sorted(names & _KEY_NAMES)
        for name in found:
            # An address stands neither in the body nor in a header.
            yield _IN_ADDRESS(exchange.at(pointer=None), observed=name)
        if not found:
            yield Compared("addresses")


_NO_KEY = finding(
    "security/the-key-it-was-given-is-used/missing",
    "A request carries no key.",
    "the key of the adapter in one of the headers {expected}",
    "a request to {path} with none of them",
)
_OTHER_KEY = finding(
    "security/the-key-it-was-given-is-used/other-key",
    "A request carries another key than that of the adapter.",
    "the key of the adapter in a request to {path}",
    "another key",
)


@check("security/the-key-it-was-given-is-used", needs="wire")
def the_key_it_was_given_is_used(view: View) -> Findings:
    """Not one from the environment, nor that of an earlier session. What was issued for it in this run is as good."""
    for exchange in view.exchanges:
        found = {name: exchange.request.headers[name] for name in _AUTH_HEADERS if name in exchange.request.headers}
        if not found and exchange.request.method == "HEAD":
            continue  # whether there is anybody: nothing is asked in anybody's name
        path = urlsplit(exchange.request.path).path
        others = [name for name, credential in found.items() if credential == "[other]"]
        if not found:
            yield _NO_KEY(exchange.at(pointer=None), expected=_AUTH_HEADERS, path=path)
        for name in others:
            yield _OTHER_KEY(exchange.at_header(name), path=path)
        if found and not others:
            yield Compared("keys of requests")
