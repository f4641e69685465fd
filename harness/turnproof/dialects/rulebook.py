"""Where a dialect writes its rules down: each is kept with its evidence, in the order in which it was written."""

from __future__ import annotations

from .base import Evidence, Rule


class Rulebook:
    """The rules of one dialect. `all` has them in order, which is roughly that in which the API judges.

    Each method adds a rule and returns it; `name` becomes the last part of its id (`gemini/missing-key`), `source` says
    where the rule can be read.
    """

    def __init__(self, dialect: str) -> None:
        self.all: list[Rule] = []
        self._dialect = dialect

    def rule(self, name: str, evidence: Evidence, source: str, *, silent: bool = False) -> Rule:
        """A rule with any evidence; a `silent` one is no refusal (see `Rule`)."""
        rule = Rule(f"{self._dialect}/{name}", evidence, source, silent)
        self.all.append(rule)
        return rule

    def recorded(self, name: str, source: str) -> Rule:
        """Seen in recorded traffic."""
        return self.rule(name, Evidence.RECORDED, source)

    def documented(self, name: str, source: str) -> Rule:
        """Stated by the provider's own documentation."""
        return self.rule(name, Evidence.DOCUMENTED, source)

    def client(self, name: str, source: str) -> Rule:
        """Read in an official client's source."""
        return self.rule(name, Evidence.CLIENT, source)

    def server(self, name: str, source: str) -> Rule:
        """Read in the server's source."""
        return self.rule(name, Evidence.SERVER, source)

    def issue(self, name: str, source: str) -> Rule:
        """Pasted by somebody whom the service refused."""
        return self.rule(name, Evidence.ISSUE, source)

    def inferred(self, name: str, source: str) -> Rule:
        """Nobody was seen to be refused for it: logged, and accepted."""
        return self.rule(name, Evidence.INFERRED, source)
