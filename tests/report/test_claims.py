"""A claim that no requirement decided is named, so that nobody takes it for shown."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.judge.run_log import AdapterLine
from turnproof.provider import ASSUMED
from turnproof.report.claims import unproven_claims

from .runs import requirement

REQUIREMENTS = [
    requirement("core/a"),
    requirement("tools/a", capability="tools, parallel_tools"),
    requirement("cache/a", capability="cache:explicit"),
    requirement("images/a", capability="images, wire:refusals"),
]


def adapter(**capabilities: Any) -> AdapterLine:
    usual = {"streaming": False, "cache": "none", "wire": ["refusals"], **dict.fromkeys(ASSUMED, True)}
    return AdapterLine(
        name="mine",
        spec="mine",
        dialect="anthropic-messages",
        model="m",
        backend="emulate",
        paths=("stateless",),
        capabilities=usual | capabilities,
    )


@pytest.mark.parametrize(
    ("claims", "decided", "unproven"),
    [
        ({"tools": True}, {"tools/a"}, ()),
        ({"tools": True}, {"core/a"}, ("tools",)),
        ({"tools": True, "images": True}, {"tools/a"}, ("images",)),
        ({"cache": "explicit"}, {"cache/a"}, ()),
        ({"cache": "explicit", "mid_system": True}, {"core/a"}, ("cache", "mid_system")),
        ({}, set(), ()),
    ],
)
def test_a_claim_is_shown_by_a_decided_requirement_that_depends_on_it(
    claims: dict[str, Any], decided: set[str], unproven: tuple[str, ...]
) -> None:
    assert unproven_claims(adapter(**claims), REQUIREMENTS, decided) == unproven
