"""Whom contents in Gemini's form are written for, and whose answers in that form are read.

More than one service takes Gemini's contents. They differ in whose signatures they know, and in what they insist on:
this much of a service and its model is all that the conversion has to be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turnproof.messages import Part, ProviderData

from .finish import CALLING


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model, with or without the folder they stand in."""
    return a.rpartition("/")[2] == b.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Target:
    """A model of a service.

    `dialect` tags what it issues. `anthropic` says that Anthropic's rules hold behind Gemini's form: ids pair calls and
    responses, responses come first, and it is thoughts that are signed. `calling` are the finish reasons under which an
    answer's calls are to be answered. `own_ids` asks for the ids of calls as the conversation has them, whatever the
    service takes: who keeps contents has to find them again. `mixes_families` says that the service has models of
    several makers: a thought that one of them signed is no other's.
    """

    dialect: str
    model: str
    demands_signatures: bool
    takes_media_in_results: bool
    anthropic: bool = False
    calling: frozenset[str | None] = CALLING
    own_ids: bool = False
    mixes_families: bool = False

    def issued(self, part: Part) -> ProviderData | None:
        """What this service attached to a part, whichever of its models did."""
        data = part.provider_data
        return data if data is not None and data.dialect == self.dialect else None

    def signature(self, part: Part) -> str | None:
        """The signature that this model gave a part; another model's is nothing to it."""
        data = self.issued(part)
        if data is None or not same_model(data.model, self.model):
            return None
        signature: str | None = data.data.get("signature")
        return signature or None

    @property
    def mark(self) -> ProviderData:
        """What a thought without a signature of its own carries: it goes back to this service and to nobody else."""
        return ProviderData(self.dialect, self.model, {})

    def data(self, signature: str | None, **known: Any) -> ProviderData | None:
        """What goes back with a part of its answers: its signature, and what else only the service knows.

        None where there is nothing, and nothing else was looked for.
        """
        data = {name: value for name, value in known.items() if value is not None}
        if signature:
            data["signature"] = signature
        return ProviderData(self.dialect, self.model, data) if data or known else None
