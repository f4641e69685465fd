"""A certificate for loopback that is made for one run and thrown away with it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server on 127.0.0.1 needs, its key with its chain as PEM, and a context of clients that trust it."""

    server: bytes
    trusting: ssl.SSLContext


def can_make() -> bool:
    """Whether trustme is installed."""
    return find_spec("trustme") is not None


def throw_away() -> Certificate:
    """A new one, of an authority that signs nothing else."""
    # An extra, for this alone.
    import trustme

    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    context = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
    return Certificate(issued.private_key_and_cert_chain_pem.bytes(), context)
