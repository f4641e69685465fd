"""How long property-based tests search: shortly and the same way each time, or long and anew (`nox -s deep`)."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_DEEP = 50
"""How many times as many examples a deep search takes."""


def register() -> None:
    """Make both ways known to hypothesis, and the short one the default. No example is measured by the clock."""
    untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("short", untimed, derandomize=True)
    settings.register_profile("deep", untimed, max_examples=100 * _DEEP, print_blob=True)
    settings.load_profile("short")


def examples(count: int) -> settings:
    """For a property that costs more than most, or less: so many examples in a short search."""
    return settings(max_examples=count * _DEEP if settings.get_current_profile_name() == "deep" else count)
