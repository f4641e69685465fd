"""Secrets: the key goes into the header that is made for it, and nowhere else."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View

_AUTH_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_KEY_NAMES = frozenset({"key", "api_key", "apikey", "api-key", "x-api-key", "access_token", "token"})


@check("security/key-is-nowhere-else", without_calls=True)
def key_is_nowhere_else(view: View) -> Findings:
    """Not in a body, an address, an error's text, a callback, a saved session or on standard output."""
    leaks = view.transcript.end.leaks
    if leaks:
        yield violated(f"the key was found in {', '.join(leaks)}")
    elif view.exchanges:
        yield "everything recorded of the run"


@check("security/key-stays-out-of-addresses", without_calls=True)
def key_stays_out_of_addresses(view: View) -> Findings:
    """Addresses end up in logs, traces and exceptions."""
    for exchange in view.exchanges:
        names = {name.lower() for name, _ in parse_qsl(urlsplit(exchange.request.path).query, keep_blank_values=True)}
        if found := sorted(names & _KEY_NAMES):
            yield violated(f"a request was sent to an address with the parameter {found[0]!r}")
        else:
            yield "addresses"


@check("security/the-key-it-was-given-is-used", without_calls=True)
def the_key_it_was_given_is_used(view: View) -> Findings:
    """Not one from the environment, nor that of an earlier session. What was issued for it in this run is as good."""
    for exchange in view.exchanges:
        found = {name: exchange.request.headers[name] for name in _AUTH_HEADERS if name in exchange.request.headers}
        if not found and exchange.request.method == "HEAD":
            continue  # whether there is anybody: nothing is asked in anybody's name
        if not found:
            yield violated(f"the request to {exchange.request.path} carries no key")
        elif "[other]" in found.values():
            yield violated(f"the request to {exchange.request.path} carries another key than the adapter was given")
        else:
            yield "keys of requests"
