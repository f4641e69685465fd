"""Where a dialect writes its rules down: each with the places that show it, in the order in which it was written."""

from __future__ import annotations

from ..errors import HarnessError
from .base import Evidence, Rule, Source
from .census import decided

READ_ON = "2026-11-26"
"""The day on which a place was read, unless it says another."""

EARLIER = "2026-11-22"
"""The day on which most threads were read that a rule names without a quote."""

_DESCRIPTIONS = "https://pypi.org/project/llm-comply/0.5.0/#llm_comply/specs"

_ADDRESSES = ("https://", "http://")


def thread(name: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """A public issue or pull request (`owner/repo#12`). `quote` has the service's words as it pastes them."""
    repository, _, number = name.partition("#")
    if repository.count("/") != 1 or not number.isdecimal():
        raise HarnessError(f"{name!r} names no thread; write owner/repository#number")
    return Source(Evidence.ISSUE, f"https://github.com/{repository}/issues/{number}", day, quote)


def threads(*names: str, day: str = READ_ON) -> tuple[Source, ...]:
    """Threads of several projects about one refusal."""
    return tuple(thread(name, day=day) for name in names)


def earlier_threads(*names: str) -> tuple[Source, ...]:
    """Threads of several projects about one refusal, read on `EARLIER`."""
    return threads(*names, day=EARLIER)


def report(address: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """What somebody else wrote down elsewhere, such as a test that runs against the service."""
    return _source(Evidence.ISSUE, address, day, quote)


def recording(address: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """Recorded traffic in which the service refuses, where it was published."""
    return _source(Evidence.RECORDED, address, day, quote)


def page(address: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """A page or an interface description of the vendor."""
    return _source(Evidence.DOCUMENTED, address, day, quote)


def interface(document: str, name: str) -> Source:
    """A schema of the interface description that the vendor publishes, as a wheel carries it."""
    return page(f"{_DESCRIPTIONS}/{document}.json/components/schemas/{name}")


def server_code(address: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """The source of the service."""
    return _source(Evidence.SERVER, address, day, quote)


def client_code(address: str, quote: str = "", *, day: str = READ_ON) -> Source:
    """The source of an official client."""
    return _source(Evidence.CLIENT, address, day, quote)


def _source(kind: Evidence, address: str, day: str, quote: str) -> Source:
    if not address.startswith(_ADDRESSES):
        raise HarnessError(f"{address!r} is no address; write where anybody can read it")
    return Source(kind, address, day, quote)


class Rulebook:
    """The rules of one dialect. `all` has them in order, which is roughly that in which the API judges."""

    def __init__(self, dialect: str) -> None:
        self.all: list[Rule] = []
        self._dialect = dialect

    def rule(self, name: str, *sources: Source, note: str = "", silent: bool = False) -> Rule:
        """Adds a rule and returns it. `name` is the last part of its id (`gemini/missing-key`); what shows it decides
        whether it is enforced (`Rule`), and what the census decided about it comes on top. One that nothing shows says
        in its `note` why it is believed."""
        if not sources and not note:
            raise HarnessError(f"rule {self._dialect}/{name} has no source; say where it can be read, or why it may be")
        id = f"{self._dialect}/{name}"
        decision = decided().get(id)
        if decision is not None and decision.says == "recorded":
            sources = (*sources, recording(decision.address, day=decision.day))
        rule = Rule(id, sources, note, silent, denied=decision is not None and decision.says == "denied")
        self.all.append(rule)
        return rule
