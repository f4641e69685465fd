"""Why a requirement could not be decided, and what would have decided it. Data alone; words are made at the edge."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ..run.tracebacks import Raised
from .finding import BrokenRule


class Obstacle(StrEnum):
    """What stood in the way of a verdict, in the order in which it is told."""

    OPERATION_RAISED = "operation-raised"
    CALL_RAISED = "call-raised"
    REQUEST_REFUSED = "request-refused"
    PROBE_RAISED = "probe-raised"
    RUN_CUT = "run-cut"
    CALLBACK_NEVER_CAME = "callback-never-came"
    NEVER_ASKED = "never-asked"
    NOTHING_SHOWN = "nothing-shown"
    NOT_RUN = "not-run"
    CLAIM_MISSING = "claim-missing"


class Undecided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that kept a requirement from being decided.

    What else is set follows from `kind`:

    - `operation-raised`: a session was asked about itself by `operation` (`history`), which raised in these `runs`; the
      exception as in `call-raised`
    - `call-raised`: a provider call, or a turn, raised what no script asked for, in these `runs`: the exception as
      `error` with its `message`, and `raised` with its frames where they are known
    - `request-refused`: the API refused a request by `rule`, in these `runs`
    - `probe-raised`: `probe` could not ask what it is for in these `runs`, since something raised that it did ahead of
      its calls, such as giving an object another key; the exception as in `call-raised`
    - `run-cut`: these `runs` came to no end: `how` (`timeout`), and the first one's `detail`
    - `callback-never-came`: `callback` was never called in the runs of these `scenarios`
    - `never-asked`: in the runs of these `scenarios` the subject never did what the requirement `counts` (`requests`)
    - `nothing-shown`: these `scenarios` were run, and nothing in them could be compared
    - `not-run`: these `scenarios` show the requirement, and the run left them out; `depth` is `full` for those that
      only a full certification runs
    - `claim-missing`: these `scenarios` show the requirement, and need what the subject `lacks`

    Runs go by their keys as text (`tools/one/legacy/stream`).
    """

    kind: Obstacle
    scenarios: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    depth: str = ""
    operation: str = ""
    how: str = ""
    detail: str = ""
    callback: str = ""
    probe: str = ""
    counts: str = ""
    error: str = ""
    message: str = ""
    raised: Raised | None = None
    rule: BrokenRule | None = None
