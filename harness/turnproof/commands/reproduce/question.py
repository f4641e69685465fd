"""What a reproducer looks at, and which value of it is the defect: from a finding and the run that it was made in.

The value is that of the run: the file shows the defect while the library does the same again. So it is asked only where
that value is wrong by itself, whatever else the run held: what compares two calls or two runs is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from msgspec import UNSET

from ...dialects.contract import Dialect
from ...errors import ContextLimitError
from ...judge.finding import PATHS_DIFFER, Finding, Place, Side, tokens
from ...judge.view import HARMLESS_FAULTS
from ...judge.view.documents import CALLBACKS
from ...judge.view.provenance import pointer_of
from ...messages import ProviderResponse, to_builtins
from ...run.transcript import (
    CallBegan,
    Chunk,
    Failed,
    FunctionCallDetected,
    Response,
    Transcript,
    WireRequest,
    WireResponse,
)
from .contract_code import ANSWER_FIELDS
from .library_error import Kinds, lacking_pattern, raised_class
from .places import (
    BY_CONTEXT,
    CONVERSATIONS,
    ERROR_FIELDS,
    answer_member,
    callback_row,
    classes_of,
    existing,
    is_alone,
    member_of,
    member_of_body,
    texts_in,
)
from .recorded_answers import exchanges_of
from .run_findings import UnreproducibleError

Sight = Literal[
    "request",
    "header",
    "requests",
    "answer",
    "unnamed",
    "returned",
    "raised",
    "loops",
    "error",
    "unheld",
    "printed",
    "left-open",
]
"""Where the file looks: at a place of a request's body, at a header, at the number of requests, at a member of what the
call returned, at whether all of it lacks a name, at whether it returned although it should have raised, at whether it
raised, at whether it raised when it was made once more in another event loop, at a member of the error, at whether the
error lacks what the API said, at standard output, or at the connection of a call that was cancelled.
"""

ANY_MESSAGE = 1 << 30
"""For `Question.first_message`: the conversation may begin at any message."""


_OF_ONE_CALL = ("core/", "tools/", "thinking/", "multimodal/", "structured/", "handoff/")
"""Requirements whose findings about a whole part of a request speak of this call alone."""

_OF_SESSIONS = ("gc/", "persistence/", "recovery/")
"""Requirements on what a session makes of earlier answers: a file hands on what it made, right or wrong."""


_UNSHORTENED = "recovery/a-too-long-prompt-is-shortened/not-sent"
"""The session could not know: what it was told is the error of the call."""


_SEEN_OF_PARTS = frozenset(("text", "name", "args"))
"""Fields of parts that the members of an answer have."""
NO_KINDS: Kinds = MappingProxyType({})


@dataclass(frozen=True)
class Question:
    """`steps` lead to the value: into the body of the request number `request`, into the answer, or into the error.
    `observed` is the value that shows the defect; of what was raised it is the names of classes, any of which does.

    A shortened conversation begins at message `first_message` or before it. `whole` says that system text and tools
    have to stay. `others` are more places that belong to the value, each of the exchange with that number: what is
    wrong is only seen from all of them. `earlier` says that the calls before this one have to be made as well,
    `before_requests` that the call raised before it sent any.
    """

    sight: Sight
    call: int
    probe: str
    observed: Any
    steps: tuple[str | int, ...] = ()
    request: int = 0
    first_message: int = ANY_MESSAGE
    whole: bool = False
    others: tuple[tuple[int, tuple[str | int, ...]], ...] = ()
    earlier: bool = False
    before_requests: bool = False


def question_of(
    finding: Finding, transcript: Transcript, dialect: Dialect, *, own_types: bool, kinds: Kinds = NO_KINDS
) -> Question:
    """What to look at for a finding. `own_types` says that what is called answers in turnproof's types, `kinds` what
    the classes of the library's errors are.

    Raises UnreproducibleError, with the reason, for a kind that no file can show.
    """
    place, what = finding.place, finding.code.rpartition("/")[2]
    if place.probe == "loops" and place.side is Side.ERROR:
        return _AccusedRun(finding, transcript, dialect, own_types, kinds).in_loops()
    if place.probe not in ("", "broken"):
        raise UnreproducibleError(
            f"it takes several calls of one object to see it (the {place.probe} probe); a file makes one"
        )
    if what == PATHS_DIFFER or any(other.run not in ("", place.run) for other in finding.related):
        raise UnreproducibleError("it compares two runs, and a file makes one call")
    accused = _AccusedRun(finding, transcript, dialect, own_types, kinds)
    if finding.code == "errors/one-request-per-attempt/repeated" and place.call >= 0:
        count = len(exchanges_of(transcript, place.call, place.probe))
        return Question("requests", place.call, place.probe, count)
    found: Question | None = None
    match place.side:
        case Side.REQUEST if finding.code == _UNSHORTENED and not own_types:
            found = accused.error(place.call)
        case Side.ERROR if place.call < 0 and finding.observed == "error":
            found = accused.outcome()
        case Side.PROCESS if what == "outcome":
            found = accused.outcome()
        case Side.PROCESS if finding.code == "core/adapter-prints-nothing/printed":
            found = accused.printed()
        case Side.STREAM if finding.code == "cancellation/connection-is-closed/left-open" and not own_types:
            found = Question("left-open", place.call, place.probe, "", whole=True)
        case Side.REQUEST if place.call >= 0:
            found = accused.request()
        case Side.RESPONSE if place.call >= 0:
            found = accused.response()
        case Side.ERROR if place.call >= 0:
            found = accused.error(place.call)
        case Side.CALLBACK if place.call >= 0:
            found = accused.callback()
    if found is None:
        raise UnreproducibleError(f"findings of this kind ({finding.code}, side {place.side}) show in no single call")
    if found.sight not in ("raised", "unnamed") and found.observed == finding.expected:
        raise UnreproducibleError("the run has the expected value at this place: what is wrong is elsewhere")
    return found


@dataclass(frozen=True)
class _AccusedRun:
    """One finding in its run."""

    finding: Finding
    transcript: Transcript
    dialect: Dialect
    own_types: bool
    kinds: Kinds

    @property
    def place(self) -> Place:
        return self.finding.place

    def request(self) -> Question | None:
        place = self.place
        requests = exchanges_of(self.transcript, place.call, place.probe)
        number = next((n for n, one in enumerate(requests) if one.exchange == place.exchange), None)
        if number is None:
            return None
        others = tuple(self._related_requests())
        if others and not self.own_types:
            raise UnreproducibleError("it compares two requests, and a file of a library makes one call")
        if others and self.finding.code.startswith(_OF_SESSIONS):
            raise UnreproducibleError("it compares what a session gave two calls, and a file gives them the same again")
        request = requests[number]
        if others:
            return self._compared(request, number, others)
        if place.header:
            value = request.headers.get(place.header)
            return Question("header", place.call, place.probe, value, (place.header,), number)
        if place.pointer is None:
            return None
        return self._at(request, number, place.pointer)

    def _related_requests(self) -> Iterator[tuple[WireRequest, str]]:
        """The other requests that the finding compares with, and the places in them."""
        every = {one.exchange: one for one in self.transcript.of(WireRequest) if one.probe == self.place.probe}
        for other in self.finding.related:
            elsewhere = (other.call, other.exchange) != (self.place.call, self.place.exchange)
            if other.side is Side.REQUEST and elsewhere and other.exchange in every:
                yield every[other.exchange], other.pointer or ""

    def _compared(self, request: WireRequest, number: int, others: Sequence[tuple[WireRequest, str]]) -> Question:
        """A value in this request and those that it is compared with: together they are what is wrong."""
        steps, value = member_of_body(request.body, self.place.pointer or "")
        found = [(one.exchange, *member_of_body(one.body, pointer)) for one, pointer in others]
        return Question(
            "request",
            request.call,
            request.probe,
            [value, *(there for _, _, there in found)],
            steps,
            number,
            first_message=0,
            whole=True,
            others=tuple((exchange, at) for exchange, at, _ in found),
            earlier=True,
        )

    def _at(self, request: WireRequest, number: int, text: str) -> Question:
        """The place in a request, and how much of the conversation has to stay for it to mean the same."""
        steps, value = existing(request.body, text)
        refused = self.finding.code.rpartition("/")[2] in ("refused", "illegal", "outcome")
        illegal = refused or self.finding.rule is not None
        alone = is_alone(steps, value, text)
        earlier = False
        if not illegal and not alone and self.finding.code.startswith(_OF_SESSIONS):
            raise UnreproducibleError("it is about what a session makes of earlier answers, and a file has no session")
        if not (illegal or alone or self.finding.code.startswith(_OF_ONE_CALL)):
            earlier = self._demand_earlier("what the request should hold follows from earlier calls")
        if not illegal and self._held_at() is None and not self._is_given(request.call):
            earlier = self._demand_earlier("what the request should hold is not in what this call was given")
        in_conversation = steps[:1] != () and steps[0] in CONVERSATIONS
        # Where something is missing, a right request may have the same beside the gap: all of it is compared. So it is
        # where a value is only wrong by what stands around it.
        missing = not illegal and not (alone and value == self.finding.observed)
        by_context = illegal and (self.place.probe != "" or (steps != () and steps[-1] in BY_CONTEXT))
        if earlier or (in_conversation and (missing or by_context)):
            steps, value = member_of_body(request.body, text)
            alone = False
        first = 0
        if alone and (illegal or (not in_conversation and value == self.finding.observed)):
            first = ANY_MESSAGE
        elif alone and (held_place := self._held_at()) is not None:
            first = held_place
        return Question(
            "request",
            request.call,
            request.probe,
            value,
            steps,
            number,
            first_message=first,
            whole=not in_conversation or first == 0,
            earlier=earlier,
        )

    def _demand_earlier(self, why: str) -> bool:
        """Raise where what is called cannot be called several times in a file."""
        if not self.own_types:
            raise UnreproducibleError(f"{why}, and a file of a library makes one")
        return True

    def _is_given(self, call: int) -> bool:
        """Whether the call was given each text that is expected in its request."""
        began = next(one for one in self.transcript.of(CallBegan) if (one.call, one.probe) == (call, self.place.probe))
        texts_given = list(texts_in(to_builtins([began.messages, began.system, began.tools, self.transcript.model])))
        texts = [] if self.finding.expected is UNSET else list(texts_in(self.finding.expected))
        return all(any(text in one for one in texts_given) for text in texts)

    def _held_at(self) -> int | None:
        """The message of the history that the finding compares with."""
        for other in self.finding.related:
            if other.side is Side.HISTORY and other.call == self.place.call and other.pointer:
                index = tokens(other.pointer)[0]
                return int(index) if index.isdecimal() else None
        return None

    def in_loops(self) -> Question:
        """The first call of the probe, made in two event loops: answered in the first, it raises in the second."""
        place = self.place
        failed = next(self._failed(place.call))
        first = min(one.call for one in self.transcript.of(CallBegan) if one.probe == place.probe)
        if first == place.call:
            raise UnreproducibleError("the call failed in the first event loop already")
        return Question("loops", first, place.probe, classes_of(failed, own_types=self.own_types), whole=True)

    def _failed(self, call: int) -> Iterator[Failed]:
        ended = (one for one in self.transcript.of(Failed) if (one.call, one.scope) == (call, "call"))
        return (one for one in ended if one.probe == self.place.probe)

    def response(self) -> Question | None:
        response = self._returned(self.place.call)
        if response is None:
            return None
        if self.finding.code.startswith("core/answering-model-is-named/") and not self.own_types:
            name = str(self.finding.expected)
            return Question("unnamed", self.place.call, self.place.probe, name, ("whole",), whole=True)
        if self.finding.code == "tools/call-ids-are-kept/changed":
            # The library draws another one each time: that the API's own is not there is the defect.
            steps = self._in_answer(response).steps if self.own_types else ("whole",)
            name = str(self.finding.expected)
            return Question("unnamed", self.place.call, self.place.probe, name, steps, whole=True)
        if self.finding.code.rpartition("/")[2] == "returned" and not self.place.pointer:
            return self._returned_wrongly(self.place.call, response)
        if self.own_types and any(other.side is Side.CALLBACK for other in self.finding.related):
            return self._callbacks_question(response)
        at = tokens(self.place.pointer or "")
        if self.own_types and at[:1] not in (("usage",), ("finish_reason",), ("raw_finish",)):
            return self._in_answer(response)
        if at[:1] == ("parts",) and len(at) > 2 and at[2] not in _SEEN_OF_PARTS:
            raise UnreproducibleError(f"the code of a library does not return the {at[2]} of a part")
        member = answer_member(response, self.finding, self.place.pointer or "")
        if member == ("finish",) and not self.own_types and self._is_apis_own_word(response):
            # What the word means is said by the adapter. That there is an answer at all may be the library's doing.
            if broken_off := self._returned_wrongly(self.place.call, response):
                return broken_off
            raise UnreproducibleError("the library hands on the API's own finish word: the adapter translates it")
        if member == ("finish",) and self.own_types and self.place.pointer == "/finish_reason":
            member = ("finish_reason",)
        if member is None:
            return None
        observed = member_of(response, member)
        whole = bool(response.calls)  # their names may lead back through the tools that are offered
        return Question("answer", self.place.call, self.place.probe, observed, member, whole=whole)

    def _in_answer(self, response: ProviderResponse) -> Question:
        """The place of an answer in turnproof's own types; the whole of it where the finding is about no part alone."""
        fields = {name: to_builtins(getattr(response, name)) for name in ANSWER_FIELDS}
        steps, value = existing(fields, self.place.pointer or "")
        if len(steps) == 1 or steps[-1:] == ("type",):
            steps, value = (), fields
        return Question("answer", self.place.call, self.place.probe, value, ("answer", *steps), whole=True)

    def _is_apis_own_word(self, response: ProviderResponse) -> bool:
        answers = self._responses(self.place.call)
        word = self.dialect.read_response(answers[-1].status, answers[-1].headers, answers[-1].data).raw_finish
        return word is None or response.raw_finish in (word, None)

    def _returned_wrongly(self, call: int, response: ProviderResponse) -> Question | None:
        faults = [one.fault for one in self._responses(call)]
        if not faults or faults[-1] is None or faults[-1] in HARMLESS_FAULTS:
            return None
        return Question("returned", call, self.place.probe, response.text, ("text",))

    def error(self, call: int) -> Question | None:
        """An exception for a whole answer; of an adapter also what its error says."""
        failed = next(self._failed(call), None)
        if failed is None:
            return None
        if all(one.status == 200 and one.fault in (None, *HARMLESS_FAULTS) for one in self._responses(call)):
            return Question("raised", call, self.place.probe, classes_of(failed, own_types=self.own_types), whole=True)
        if not self.own_types:
            return self._library_error(failed)
        name = next(iter(tokens(self.place.pointer or "")), "error")
        kind = failed.error.rpartition(".")[2]
        observed: Any = kind
        if name in ERROR_FIELDS:
            observed = getattr(failed, name)
        elif self.finding.observed == failed.error:
            name = "error"
        elif self.finding.observed == failed.message:
            name, observed = "words", failed.message
        else:  # Whatever it is about, a right error differs in one of these.
            name, observed = "fields", [kind, *(getattr(failed, field) for field in ERROR_FIELDS)]
        return Question("error", call, self.place.probe, observed, (name,), whole=True)

    def _library_error(self, failed: Failed) -> Question:
        """What the library's own error says, where it was right that it raised one."""
        place = self.place
        if lacking := lacking_pattern(self.finding):
            return Question("unheld", place.call, place.probe, lacking)
        if self.finding.code.endswith("/wrong-status"):
            return Question("error", place.call, place.probe, failed.status, ("status_code",))
        names = classes_of(failed, own_types=False)
        if self.finding.code == _UNSHORTENED and failed.error.endswith(ContextLimitError.__name__):
            raise UnreproducibleError("the error says that the prompt is too long: look at the session")
        found = raised_class(self.finding, failed, names, self.kinds)
        return Question("raised", place.call, place.probe, [found])

    def printed(self) -> Question | None:
        """Anything on standard output: most likely of a call that failed, else of the first."""
        calls = [*self.transcript.of(Failed), *self.transcript.of(CallBegan)]
        for one in (one for one in calls if one.call >= 0 and not one.probe):
            return Question("printed", one.call, one.probe, "")
        return None

    def callback(self) -> Question | None:
        """The text that was handed on in pieces, or a call that was handed on and returned."""
        call, probe = self.place.call, self.place.probe
        callbacks = [one for one in self.transcript.events if isinstance(one, CALLBACKS)]
        callbacks = [one for one in callbacks if (one.call, one.probe) == (call, probe)]
        index = next(iter(tokens(self.place.pointer or "")), "")
        at = callbacks[int(index)] if index.isdecimal() and int(index) < len(callbacks) else None
        response = self._returned(call)
        if isinstance(at, FunctionCallDetected) and response is not None and at.function_call in response.calls:
            return Question("answer", call, probe, member_of(response, ("calls",)), ("calls",), whole=True)
        if not isinstance(at, Chunk) and self.own_types and response is not None:
            return self._callbacks_question(response)
        if at is not None and not isinstance(at, Chunk):
            return None
        text = "".join(one.text for one in callbacks if isinstance(one, Chunk))
        return Question("answer", call, probe, text, ("chunks",), whole=True) if text else None

    def _callbacks_question(self, response: ProviderResponse) -> Question:
        """All that the callbacks got and the answer behind it: one of both is wrong, or they do not agree."""
        call, probe = self.place.call, self.place.probe
        events = [one for one in self.transcript.events if isinstance(one, CALLBACKS)]
        callback_rows = [callback_row(one) for one in events if (one.call, one.probe) == (call, probe)]
        answer = [to_builtins(getattr(response, name)) for name in ANSWER_FIELDS]
        return Question("answer", call, probe, [callback_rows, answer], ("told",), whole=True)

    def outcome(self) -> Question | None:
        """A turn that ended otherwise than its script says: its last call raised, or returned what is no answer."""
        calls = [one.call for one in self.transcript.of(CallBegan) if one.turn == self.place.turn and not one.probe]
        if not calls:
            return None
        last = calls[-1]
        if self.finding.observed == "error":
            for number, request in enumerate(exchanges_of(self.transcript, last, "")):
                for rule in filter(_is_enforced, request.findings):
                    return self._at(request, number, pointer_of(str(rule.get("path", "$")), request.body))
            return self.error(last)
        response = self._returned(last)
        if self.finding.expected == "error" and response is not None:
            return self._returned_wrongly(last, response)
        return None

    def _returned(self, call: int) -> ProviderResponse | None:
        ended = (one for one in self.transcript.of(Response) if (one.call, one.probe) == (call, self.place.probe))
        return next((one.response for one in ended), None)

    def _responses(self, call: int) -> list[WireResponse]:
        found = (one for one in self.transcript.of(WireResponse) if (one.call, one.probe) == (call, self.place.probe))
        return sorted(found, key=lambda one: one.exchange)


def _is_enforced(rule: dict[str, Any]) -> bool:
    return bool(rule.get("enforced"))
