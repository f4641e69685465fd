"""Finds the recorded traffic of real services, which lies beside the checkout and is not part of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_dir() -> Path:
    """The folder of shared material: `TURNPROOF_SHARED`, or `shared` beside the checkout.

    Skips the test where it is absent, or another folder of that name; fails it instead when
    `TURNPROOF_REQUIRE_SHARED=1`.
    """
    found = Path(os.environ.get("TURNPROOF_SHARED") or Path(__file__).resolve().parents[1] / "../shared").resolve()
    _demand((found / "defects.md").is_file(), f"no shared material at {found} (set TURNPROOF_SHARED)")
    return found


def recordings_dir() -> Path:
    """The folder of recorded traffic; skips or fails as `shared_dir` does."""
    found = shared_dir() / "recordings"
    _demand(found.is_dir(), f"no recordings at {found}")
    return found


def _demand(is_there: bool, reason: str) -> None:
    if is_there:
        return
    if os.environ.get("TURNPROOF_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
