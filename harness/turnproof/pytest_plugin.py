"""The pytest plugin: asleep until asked.

With `--turnproof-adapter NAME_OR_MODULE:ATTRIBUTE` the run gets one more item per requirement and path. The fixtures
`turnproof_endpoint` (a scripted emulator) and `turnproof_cassette` (a replay) serve a project's own tests. Without
either, no hook of ours does anything and nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .certify.campaign import Campaign
    from .certify.plan import Item
    from .verdict import Verdict


class RequirementItems:
    """Adds a campaign's items to a pytest session, measures once before the first one runs, and judges each."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.crash: BaseException | None = None

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        parent = RequirementNode.from_parent(session, name="turnproof")
        mine = self.campaign.plan.items
        items.extend(RequirementItem.from_parent(parent, name=item.id, item=item, plugin=self) for item in mine)

    def measure(self) -> None:
        """Make the runs; what goes wrong here is ours, and stops the session."""
        try:
            self.campaign.measure()
        except BaseException as error:
            self.crash = error
            raise pytest.exit.Exception(f"turnproof could not measure: {error}") from error


class RequirementNode(pytest.Collector):
    """The parent of the items, so that they show as `turnproof::…`."""

    def collect(self) -> list[pytest.Item]:
        return []


class RequirementItem(pytest.Item):
    """One requirement on one path of one adapter."""

    def __init__(self, *, item: Item, plugin: RequirementItems, **kw: Any) -> None:
        super().__init__(**kw)
        self.requirement_item = item
        self.plugin = plugin

    def runtest(self) -> None:
        self.plugin.measure()
        verdict = self.plugin.campaign.verdict(self.requirement_item)
        _report(self.requirement_item, verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RequirementViolatedError | RequirementUndecidedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[str, None, str]:
        return "turnproof", None, self.name


class RequirementViolatedError(AssertionError):
    """The adapter broke the requirement."""


class RequirementUndecidedError(AssertionError):
    """A MUST could not be decided; never a pass."""


def _report(item: Item, verdict: Verdict) -> None:
    from .requirements import REGISTRY, Level
    from .verdict import Status
    from .verdict_words import details_of

    must = item.requirement.level is Level.MUST
    text = "\n".join(
        line
        for line in (
            f"{item.requirement.id} [{item.path}] {verdict.status}: {REGISTRY.message(verdict)}",
            f"  where: {verdict.where}" if verdict.where else "",
            details_of(verdict, REGISTRY.templates),
            f"  why it matters: {item.requirement.reason}",
            f"  what to look at: {item.requirement.remedy}",
            f"  again: turnproof certify {item.adapter} --only {item.requirement.id}",
        )
        if line
    )
    match verdict.status:
        case Status.VIOLATED if must:
            raise RequirementViolatedError(text)
        case Status.INCONCLUSIVE if must:
            raise RequirementUndecidedError(text)
        case Status.VIOLATED | Status.INCONCLUSIVE | Status.KNOWN_ISSUE:
            pytest.xfail(text)
        case Status.NOT_CLAIMED:
            pytest.skip(verdict.message)
        case Status.HELD:
            pass


# -- in a user's own run -----------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turnproof", "certify LLM provider adapters")
    group.addoption(
        "--turnproof-adapter",
        action="append",
        default=[],
        metavar="ADAPTER",
        help="add one item per requirement and path of this adapter (a name, or module:attribute)",
    )
    group.addoption("--turnproof-only", action="append", default=[], metavar="PATTERN", help="requirement ids to check")


def pytest_configure(config: pytest.Config) -> None:
    adapters = config.getoption("--turnproof-adapter", default=[])
    if not adapters:
        return
    from .certify.session_plugin import open_campaign

    try:
        plugin = open_campaign(adapters, config.getoption("--turnproof-only"), config)
    except Exception as error:
        from .errors import TurnproofError

        if isinstance(error, TurnproofError):
            raise pytest.UsageError(f"turnproof: {error}") from error
        raise
    config.pluginmanager.register(plugin, "turnproof-items")


@pytest.fixture
def turnproof_endpoint() -> Iterator[Callable[..., Any]]:
    """A function `(scenario, dialect="anthropic-messages", model=None) -> ScriptedEndpoint`: a scripted emulator.

    `scenario` is a `Scenario`, or the path of a YAML file. The endpoint has `base_url`, `api_key` and `model` for the
    client under test, `arm(turn)` to choose the scenario's turn, and `requests` for what arrived.
    """
    from .certify.fixtures import endpoints

    with endpoints() as opened:
        yield opened


@pytest.fixture
def turnproof_cassette() -> Iterator[Callable[..., Any]]:
    """A function `(cassette_path) -> ReplayEndpoint`: a local server that replays a cassette to any client."""
    from .certify.fixtures import replays

    with replays() as opened:
        yield opened
