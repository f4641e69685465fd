"""What a file looks at that has a conversation with a library's agent, and which value of it is the defect.

As in a file with one call, the value is that of the run. The file says all that the run's user said up to the turn of
the finding, or the last of it where what is wrong does not follow from what was said before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import UNSET

from ...judge.finding import PATHS_DIFFER, Finding, Place, Side, tokens
from ...judge.view import HARMLESS_FAULTS
from ...judge.view.documents import process_events
from ...messages import thaw
from ...run.transcript import (
    Chunk,
    Failed,
    HistorySnapshot,
    RunEnded,
    ToolRun,
    Transcript,
    TurnBegan,
    TurnEnded,
    WireRequest,
    WireResponse,
)
from .places import CONVERSATIONS, classes_of, existing, is_alone, member_of_body, texts_in
from .run_findings import UnreproducibleError

SessionSight = Literal[
    "request", "header", "failed", "reply", "shown", "held", "shown-and-held", "runs", "silence", "end"
]
"""Where the file looks: at a place of a request's body, at a header, at the exception of the last turn, at the text of
its reply, at the text it showed, at the texts that the library holds behind it, at both, at the tools it ran with which
arguments, at whether the client was still there after a cancel, or at whether the turn came to an end.
"""

_TEXTS_HELD = ("history/", "cancellation/partial-text-is-kept/")
"""Findings about what is held, by whatever place."""

_RIGHT_ERROR = "the turn failed rightly: which error it has to be is said by the binding"


@dataclass(frozen=True)
class SessionQuestion:
    """`turn` is the last one that the file has. `steps` lead to the value in the body of the run's request number
    `exchange`. `observed` shows the defect; of what was raised it is the names of classes, any of which does.

    `first_turn` is the last turn that the file may begin with. `whole` says that system text and tools have to stay.
    """

    sight: SessionSight
    turn: int
    observed: Any = None
    steps: tuple[str | int, ...] = ()
    exchange: int = -1
    first_turn: int = 0
    whole: bool = False


def session_question(finding: Finding, transcript: Transcript) -> SessionQuestion:
    """What to look at for a finding. Raises UnreproducibleError, with the reason, for a kind that no file can show."""
    place, what = finding.place, finding.code.rpartition("/")[2]
    if place.probe:
        raise UnreproducibleError(f"it is about the calls of a probe ({place.probe}), and a file has turns alone")
    if what == PATHS_DIFFER or any(other.run not in ("", place.run) for other in finding.related):
        raise UnreproducibleError("it compares two runs, and a file has one")
    accused = _AccusedTurn(finding, transcript)
    found: SessionQuestion | None = None
    match place.side:
        case Side.PROCESS if isinstance(accused.document, RunEnded):
            found = accused.end()
        case _ if finding.code.startswith(_TEXTS_HELD) and place.side is not Side.REQUEST:
            found = accused.held()
        case Side.REQUEST if place.exchange >= 0:
            found = accused.request()
        case Side.STREAM if place.exchange >= 0:
            found = accused.silence()
        case Side.CALLBACK:
            found = accused.shown()
        case Side.ERROR:
            found = accused.failed()
        case Side.PROCESS:
            found = accused.process()
    if found is None:
        raise UnreproducibleError(f"findings of this kind ({finding.code}, side {place.side}) show in no single turn")
    return found


@dataclass(frozen=True)
class _AccusedTurn:
    """One finding in its run."""

    finding: Finding
    transcript: Transcript

    @property
    def place(self) -> Place:
        return self.finding.place

    @property
    def document(self) -> Any:
        """The event that a place in the process is in: places there count the events of their turn."""
        index = next(iter(tokens(self.place.pointer or "")), "")
        events = process_events(one for one in self.transcript.events if (one.turn, one.probe) == (self.place.turn, ""))
        return events[int(index)] if index.isdecimal() and int(index) < len(events) else None

    def request(self) -> SessionQuestion | None:
        place = self.place
        request = next((one for one in self._requests() if one.exchange == place.exchange), None)
        if request is None:
            return None
        if any(one.side is Side.REQUEST and one.exchange != place.exchange for one in self.finding.related):
            raise UnreproducibleError("it compares two requests")
        if place.header:
            value = request.headers.get(place.header)
            return SessionQuestion("header", place.turn, value, (place.header,), place.exchange, first_turn=place.turn)
        if place.pointer is None:
            return None
        steps, value = existing(request.body, place.pointer)
        if not steps and (self.finding.expected is UNSET or isinstance(self.finding.observed, int)):
            return None  # that there is such a request at all, or how many: no body shows that
        illegal = self.finding.code.rpartition("/")[2] in ("refused", "illegal") or self.finding.rule is not None
        alone = is_alone(steps, value, place.pointer)
        in_conversation = steps[:1] != () and steps[0] in CONVERSATIONS
        if alone and (illegal or value == self.finding.observed):
            first_turn = place.turn if illegal or not in_conversation else 0
            return SessionQuestion(
                "request", place.turn, value, steps, place.exchange, first_turn, whole=not in_conversation
            )
        # What is missing or out of place is seen from what stands around it: all of the conversation is compared.
        if in_conversation or not illegal:
            steps, value = member_of_body(request.body, place.pointer)
        first_turn = 0 if in_conversation else place.turn
        return SessionQuestion("request", place.turn, value, steps, place.exchange, first_turn, whole=True)

    def silence(self) -> SessionQuestion | None:
        """The turn went on while the server was silent after a cancel."""
        response = next((one for one in self._responses() if one.exchange == self.place.exchange), None)
        if response is None or response.released != "limit":
            return None
        return SessionQuestion("silence", self.place.turn, exchange=self.place.exchange, first_turn=self.place.turn)

    def shown(self) -> SessionQuestion | None:
        """All that was shown in the turn; where that is compared with what is held, both."""
        pieces = [one.text for one in self.transcript.of(Chunk) if one.turn == self.place.turn]
        if not any(one.side is Side.HISTORY for one in self.finding.related):
            return self._of_turn("shown", "".join(pieces)) if pieces else None
        texts = texts_held(self.transcript, self.place.turn)
        return self._of_turn("shown-and-held", ["".join(pieces), texts]) if texts is not None else None

    def failed(self) -> SessionQuestion | None:
        """An exception for whole answers."""
        failed = next((one for one in self.transcript.of(Failed) if one.turn == self.place.turn), None)
        if failed is None:
            return None
        if not all(one.status == 200 and one.fault in (None, *HARMLESS_FAULTS) for one in self._of_this_turn()):
            raise UnreproducibleError(_RIGHT_ERROR)
        if not (names := classes_of(failed, own_types=False)):
            raise UnreproducibleError("what the turn raised is no exception of the library's")
        return self._of_turn("failed", names)

    def process(self) -> SessionQuestion | None:
        match self.document:
            case ToolRun():
                return self._of_turn("runs", list(tools_run(self.transcript, self.place.turn)))
            case TurnEnded(outcome="answer") as ended if self._is_broken():
                return self._of_turn("reply", ended.text)
        return None

    def held(self) -> SessionQuestion | None:
        """The texts that are held behind the turn, where one is missing or should not be there."""
        texts = texts_held(self.transcript, self.place.turn)
        if texts is None:
            return None
        expected, observed = self.finding.expected, self.finding.observed
        missing = isinstance(expected, str) and expected not in texts
        left_behind = expected is UNSET and any(text in texts for text in texts_in(observed))
        return self._of_turn("held", texts) if missing or left_behind else None

    def end(self) -> SessionQuestion | None:
        """A run that hangs in a turn."""
        turn_numbers = [one.turn for one in self.transcript.of(TurnBegan) if not one.probe]
        if self.finding.code.rpartition("/")[2] != "hung" or not turn_numbers:
            return None
        return SessionQuestion("end", turn_numbers[-1], first_turn=turn_numbers[-1], whole=True)

    def _of_turn(self, sight: SessionSight, observed: Any) -> SessionQuestion:
        return SessionQuestion(sight, self.place.turn, observed, first_turn=self.place.turn)

    def _is_broken(self) -> bool:
        """Whether the turn should not have ended with an answer: its last one broke off, or it was cancelled."""
        answers = self._of_this_turn()
        return bool(answers) and (answers[-1].held or answers[-1].fault not in (None, *HARMLESS_FAULTS))

    def _requests(self) -> list[WireRequest]:
        return [one for one in self.transcript.of(WireRequest) if not one.probe]

    def _responses(self) -> list[WireResponse]:
        return [one for one in self.transcript.of(WireResponse) if not one.probe]

    def _of_this_turn(self) -> list[WireResponse]:
        return [one for one in self._responses() if one.turn == self.place.turn]


def tools_run(transcript: Transcript, turn: int) -> Iterator[list[Any]]:
    """The tools that ran in a turn, each `[name, arguments]`, in the order of their source."""
    runs = (one for one in transcript.of(ToolRun) if one.turn == turn and one.outcome != "unknown")
    return iter(sorted(([one.name, thaw(one.args)] for one in runs), key=repr))


def texts_held(transcript: Transcript, turn: int) -> list[str] | None:
    """The texts of the messages that the session holds behind a turn; None where nobody looked."""
    snapshots = [one for one in transcript.of(HistorySnapshot) if one.owner == "session" and one.turn == turn]
    if not snapshots:
        return None
    return [message.text for message in snapshots[-1].messages if message.text]


def held_texts_since(transcript: Transcript, first: int, turn: int) -> list[str]:
    """The texts that are held behind a turn, without those that were held ahead of turn `first`.

    Raises UnreproducibleError where these are not what it begins with.
    """
    before = texts_held(transcript, first - 1) if first else []
    texts = texts_held(transcript, turn) or []
    if before is None or texts[: len(before)] != before:
        raise UnreproducibleError("what is held does not begin with what was held before")
    return texts[len(before) :]
