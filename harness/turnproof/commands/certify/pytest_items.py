"""The items of a campaign in a pytest session: one for each requirement and path, which passes, fails or is skipped."""

from __future__ import annotations

from typing import Any

import pytest

from ..._base.workflow_commands import without_commands
from ...judge.requirements import REGISTRY, Level
from ...judge.verdict import Status, Verdict
from ...judge.verdict_words import details_of
from .campaign import Campaign
from .plan import Item


class RequirementItems:
    """Adds a campaign's items to a pytest session, measures once before the first one runs, and judges each."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.crash: BaseException | None = None

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        parent = RequirementNode.from_parent(session, name="turnproof")
        own_items = self.campaign.plan.items
        items.extend(RequirementItem.from_parent(parent, name=item.id, item=item, plugin=self) for item in own_items)

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
        # The text alone: pytest takes longer to format a traceback than a check takes to decide.
        if isinstance(excinfo.value, RequirementViolatedError | RequirementUndecidedError | pytest.xfail.Exception):
            return without_commands(str(excinfo.value))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[str, None, str]:
        return "turnproof", None, self.name


class RequirementViolatedError(AssertionError):
    """The adapter broke the requirement."""


class RequirementUndecidedError(AssertionError):
    """A MUST could not be decided; never a pass."""


def _report(item: Item, verdict: Verdict) -> None:
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
