"""The check of sessions that were saved on one path and loaded on the other."""

from __future__ import annotations

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import Loaded, Saved, WireRequest

from .build import body_with, spoilt
from .cases import Case, good_runs_hold
from .test_operation_checks import between, now_held, refused, talk

OTHER = "persistence/other-path-continues"
DONE = "save-load-other-path"


def moved() -> View:
    events = Saved(data="{}"), Loaded(messages=(), path="legacy")
    return talk(DONE, *events, name="persistence/other_path")


def sent_without(*places: int) -> object:
    def changed(view: View) -> View:
        def shorter(body: dict[str, list[object]]) -> None:
            body["messages"] = [one for n, one in enumerate(body["messages"]) if n not in places]

        return spoilt(view, WireRequest, body_with(shorter), -1)

    return changed


CASES = [
    Case(
        OTHER,
        moved,
        now_held(lambda m: m[2:], DONE),
        "is not the saved one",
        "history-changed",
        f"/operations/{DONE}",
    ),
    Case(OTHER, moved, lambda view: between(view, Loaded, refused(DONE)), "got IndexError: no such turn", "refused"),
    Case(OTHER, moved, sent_without(1, 2), "does not begin with the last one", "request-changed"),  # type: ignore[arg-type]
    Case(OTHER, moved, sent_without(5), "does not begin with the last one", "request-changed"),  # type: ignore[arg-type]
]


test_a_session_that_goes_on_holds_and_one_that_does_not_is_named = good_runs_hold(CASES)


def test_a_run_that_stays_on_its_path_decides_nothing() -> None:
    view = talk("save-load", Saved(data="{}"), Loaded(messages=()), name="persistence/other_path")
    assert Case(OTHER, lambda: view, lambda view: view).verdict(view).status is Status.INCONCLUSIVE


def test_loading_on_its_own_path_is_another_requirement() -> None:
    verdict = Case("persistence/next-request-is-unbroken", moved, lambda view: view).verdict(moved())
    assert verdict.status is Status.INCONCLUSIVE
