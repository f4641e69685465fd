"""Where a dialect writes its rules down: each is kept with its evidence, in the order in which it was written."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..errors import HarnessError
from .base import Evidence, Rule

_NO_SOURCES: Mapping[Evidence, str] = MappingProxyType({})


class Rulebook:
    """The rules of one dialect. `all` has them in order, which is roughly that in which the API judges.

    Each method adds a rule and returns it; `name` becomes the last part of its id (`gemini/missing-key`), `source` says
    where the rule can be read. `sources` has the usual source for a kind of evidence: the one of rules that name none,
    or, with `{}` in it, the text around what each rule names.
    """

    def __init__(self, dialect: str, sources: Mapping[Evidence, str] = _NO_SOURCES) -> None:
        self.all: list[Rule] = []
        self._dialect = dialect
        self._sources = sources

    def rule(self, name: str, evidence: Evidence, source: str = "", *, silent: bool = False) -> Rule:
        """A rule with any evidence; a `silent` one is no refusal (see `Rule`)."""
        usual = self._sources.get(evidence, "")
        full = usual.replace("{}", source) if "{}" in usual else source or usual
        if not full:
            raise HarnessError(f"rule {self._dialect}/{name} names no source; say where it can be read")
        rule = Rule(f"{self._dialect}/{name}", evidence, full, silent)
        self.all.append(rule)
        return rule

    def recorded(self, name: str, source: str = "") -> Rule:
        """Seen in recorded traffic."""
        return self.rule(name, Evidence.RECORDED, source)

    def documented(self, name: str, source: str = "") -> Rule:
        """Stated by the provider's own documentation."""
        return self.rule(name, Evidence.DOCUMENTED, source)

    def client(self, name: str, source: str = "") -> Rule:
        """Read in an official client's source."""
        return self.rule(name, Evidence.CLIENT, source)

    def server(self, name: str, source: str = "") -> Rule:
        """Read in the server's source."""
        return self.rule(name, Evidence.SERVER, source)

    def issue(self, name: str, source: str = "") -> Rule:
        """Pasted by somebody whom the service refused."""
        return self.rule(name, Evidence.ISSUE, source)

    def inferred(self, name: str, source: str = "") -> Rule:
        """Nobody was seen to be refused for it: logged, and accepted."""
        return self.rule(name, Evidence.INFERRED, source)
