"""A recorded conversation as the data of a scenario file.

What a scenario has no words for is left out and noted; where nothing is left of the conversation without it, it is
refused (`NotAScenario`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ... import messages as m
from ...dialects import api_of
from ...dialects.base import WireAnswer
from ...scenarios.documents import Document
from ...scenarios.model import asked_form
from .apis import ReadExchange
from .conversations import Conversation
from .exchanges import RecordedExchange, TracedCall

_IMAGES: Final[Mapping[str, str]] = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif"}
_KEPT_HEADERS: Final = frozenset({"content-type", "retry-after", "retry-after-ms", "x-should-retry"})
_THINKING_BUDGET: Final = 1024
_CLOSING: Final = "(The recording ends here.)"
_SHOWN_BY_PARTS: Final = (m.FinishReason.STOP, m.FinishReason.TOOL_USE)


class NotAScenario(Exception):
    """Why a conversation cannot be told as a scenario."""


@dataclass(slots=True)
class Draft:
    """A scenario in the making: its data, how many answers are recorded ones, and what was left out of it."""

    data: Document
    recorded: int = 0
    notes: list[str] = field(default_factory=list)


def scenario_of(conversation: Conversation, title: str) -> Draft:
    """The scenario of a conversation over HTTP. Raises NotAScenario."""
    steps = conversation.steps
    streams = sum(step.call.stream for step in steps) * 2 >= len(steps)
    last = conversation.last
    origin = {
        "host": last.recorded.host,
        "dialect": last.dialect.name,
        "model": last.call.model or "",
        "day": next((step.recorded.day for step in steps if step.recorded.day), ""),
    }
    draft = Draft({"title": title, "modes": ["stream" if streams else "batch"], "origin": _without_empty(origin)})
    declared = _declared(draft, {tool.name: tool for step in steps for tool in step.call.tools}.values())
    _add_system(draft, "\n\n".join(part.text for part in conversation.last.call.system if isinstance(part, m.Text)))
    if any(isinstance(part, m.Thought) for step in steps for part in step.answer.parts):
        # Where thinking is not asked for, earlier thinking does not have to be sent back.
        draft.data["options"] = {"thinking": {"budget_tokens": _THINKING_BUDGET}}
    turns = _Turns(draft, declared, streams)
    for place, message in enumerate(conversation.messages):
        turns.add(message, conversation.answered_at.get(place))
    if conversation.last.failed:
        turns.fail(conversation.last)
    return turns.finished()


def scenario_of_trace(calls: Sequence[TracedCall], title: str) -> Draft:
    """The scenario of a conversation in a trace, whose last call holds all that was said. Raises NotAScenario."""
    last = calls[-1]
    draft = Draft({"title": title})
    declared = _declared(draft, last.tools)
    _add_system(draft, last.system)
    turns = _Turns(draft, declared, streams=True)
    for message in (*last.messages, *((last.answer,) if last.answer is not None else ())):
        turns.add(message, None)
    return turns.finished()


def _without_empty(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _add_system(draft: Draft, text: str) -> None:
    if text:
        draft.data["system"] = text


def _declared(draft: Draft, tools: Iterable[m.ToolSchema]) -> set[str]:
    """Declare the tools that a client runs; those of the service itself are no part of a scenario."""
    declarations = []
    for tool in tools:
        kind = tool.parameters.get("type", "object")
        if kind == "object" or isinstance(kind, list):
            entry = {"name": tool.name, "description": tool.description, "parameters": m.thaw(tool.parameters)}
            declarations.append({key: value for key, value in entry.items() if value})
        else:
            draft.notes.append(f"the service's own tool {tool.name!r} is not declared")
    if declarations:
        draft.data["tools"] = declarations
    return {tool["name"] for tool in declarations}


class _Turns:
    """Puts messages together to turns."""

    def __init__(self, draft: Draft, declared: set[str], streams: bool) -> None:
        self._draft = draft
        self._declared = declared
        self._streams = streams
        self._turns: list[Document] = []
        self._calls: list[m.FunctionCall] = []
        """The calls of the last answer that have no result yet."""

    def add(self, message: m.Message, brought_by: ReadExchange | None) -> None:
        """The next message, and the exchange that brought it if it is a recorded answer."""
        match message.role:
            case "user":
                self._add_user(message.parts)
            case "model":
                self._add_answer(message.parts, brought_by)
            case "tool":
                self._add_results(message)
            case _:
                self._draft.notes.append("an instruction between turns is left out")

    def fail(self, step: ReadExchange) -> None:
        """The conversation ends with an error of the service."""
        if not self._turns or (self._rounds and not self._awaits_answer):
            raise NotAScenario("the request that failed does not end with something to answer")
        self._turns[-1]["expect"] = "error"
        self._rounds.append({"parts": [], "recorded": self._recorded(step)})

    def finished(self) -> Draft:
        """The draft with its turns."""
        if not self._turns:
            raise NotAScenario("nobody says anything")
        for turn in self._turns:
            if not turn["model"]:
                raise NotAScenario("something is said that is never answered")
        if self._calls and self._turns[-1].get("expect") != "error":
            self._close()
        self._draft.data["turns"] = self._turns
        return self._draft

    # -- the user ------------------------------------------------------------------------------------------------

    def _add_user(self, parts: Sequence[m.Part]) -> None:
        user_parts = [user_part for part in parts if (user_part := self._user_part(part)) is not None]
        if not user_parts:
            self._draft.notes.append("a message of the user in which a scenario can say nothing is left out")
            return
        if self._calls:
            self._answer_missing()
        if self._turns and not self._rounds:
            self._turns[-1]["user"] += user_parts  # two messages in a row are one turn
        elif self._turns and self._awaits_answer:
            raise NotAScenario("the user speaks between the results of tools and the answer to them")
        else:
            self._turns.append({"user": user_parts, "model": [], "results": {}})

    def _user_part(self, part: m.Part) -> Any:
        match part:
            case m.Text(text=text):
                return text or None
            case m.InlineData(mime_type=kind):
                return self._attachment(kind)
            case m.FileRef(mime_type=kind, uri=uri):
                return {"file": uri, "mime": kind or "application/octet-stream"}
            case _:
                self._draft.notes.append(f"a part of the user's message is left out ({type(part).__name__})")
                return None

    def _attachment(self, kind: str) -> Any:
        if kind == "application/pdf":
            self._note("documents are replaced by a sample")
            return {"document": "pdf"}
        if kind.startswith("image/"):
            self._note("pictures are replaced by a sample")
            return {"image": _IMAGES.get(kind, "png")}
        self._note(f"an attachment of type {kind} is left out")
        return None

    def _note(self, what: str) -> None:
        if what not in self._draft.notes:
            self._draft.notes.append(what)

    # -- the model -----------------------------------------------------------------------------------------------

    @property
    def _rounds(self) -> list[Any]:
        rounds: list[Any] = self._turns[-1]["model"] if self._turns else []
        return rounds

    @property
    def _awaits_answer(self) -> bool:
        """Whether the last round has calls, all of which have results by now, or was paused."""
        if not self._rounds:
            return bool(self._turns)
        last = self._rounds[-1]
        return not self._calls and (_has_calls(last) or last.get("finish") == "paused")

    def _add_answer(self, parts: Sequence[m.Part], brought_by: ReadExchange | None) -> None:
        if not self._turns:
            raise NotAScenario("the model speaks first")
        if self._calls:
            self._answer_missing()
        if not self._awaits_answer:
            if brought_by is not None:
                raise NotAScenario("the model goes on with words that the client put into its mouth")
            self._rounds[-1]["parts"] += self._answer_parts(parts)  # one answer, sent back in two messages
            return
        answer = self._answer(parts, brought_by)
        self._rounds.append(answer)
        self._calls = [part for part in parts if isinstance(part, m.FunctionCall)]

    def _answer(self, parts: Sequence[m.Part], brought_by: ReadExchange | None) -> Document:
        answer: Document = {"parts": self._answer_parts(parts)}
        if brought_by is None:
            return answer
        answer |= _ending(brought_by.answer)
        if _asks_for_several(brought_by.call.settings):
            self._note("several answers were asked for at once, which no adapter does: the first one is emulated")
            return answer
        if "held-history" in brought_by.dialect.traits:
            self._note("answers that the service may store are emulated: what comes next depends on what is stored")
            return answer
        answer["recorded"] = self._recorded(brought_by)
        return answer

    def _recorded(self, step: ReadExchange) -> Document:
        if step.call.stream != self._streams:
            self._note("some answers came in the other mode than most: those are emulated")
        try:
            body = step.recorded.response_body.decode()
        except UnicodeDecodeError as error:
            raise NotAScenario("an answer is no text") from error
        self._draft.recorded += 1
        request = step.recorded.request({})
        form: Document = {
            "body": body,
            "asked": asked_form(request.path, request.query),
            "headers": _response_headers(step.recorded),
        }
        form |= {"stream": True} if step.call.stream else {}
        return form | ({"status": step.recorded.status} if step.recorded.status != 200 else {})

    def _answer_parts(self, parts: Sequence[m.Part]) -> list[Any]:
        return [answer_part for part in parts if (answer_part := self._answer_part(part)) is not None]

    def _answer_part(self, part: m.Part) -> Any:
        match part:
            case m.Text(text=text):
                return text or None
            case m.Thought(text=text):
                return {"thinking": text} if text else {"redacted": "recorded"}
            case m.FunctionCall(id=id, name=name, args=args):
                call = {"call": name, "args": m.thaw(args), "id": id}
                call |= {"unknown": True} if name not in self._declared else {}
                return {key: value for key, value in call.items() if value != ""}
            case m.Opaque(dialect=dialect, data=data):
                return {"block": {api_of(dialect): m.thaw(data)}}
            case m.ExecutableCode() | m.CodeExecutionResult() | m.InlineData() | m.FileRef():
                self._note(f"outside of the recorded answer, {type(part).__name__} is left out")
                return None
            case _:
                return None

    # -- tools ---------------------------------------------------------------------------------------------------

    def _add_results(self, message: m.Message) -> None:
        for result in message.parts:
            if isinstance(result, m.ToolResult):
                self._add_result(result)

    def _add_result(self, result: m.ToolResult) -> None:
        call = next((one for one in self._calls if one.id == result.call_id), None)
        if call is None:
            call = next((one for one in self._calls if one.name == result.name), None)
        if call is None:
            raise NotAScenario("a result has no call in front of it")
        self._calls.remove(call)
        self._script(call, self._outcome(result))

    def _outcome(self, result: m.ToolResult) -> Document:
        if result.is_error:
            return {"error": str(result.result)}
        attached = [one for part in result.attachments if (one := self._user_part(part)) is not None]
        outcome: Document = {"result": m.thaw(result.result)}
        return outcome | ({"attachments": attached} if attached else {})

    def _script(self, call: m.FunctionCall, outcome: Document) -> None:
        """Let the tool return this to a call with these arguments."""
        if call.name not in self._declared:
            return
        results = self._turns[-1]["results"]
        known = results.get(call.name)
        if known is None:
            results[call.name] = {**outcome, "cases": [{"when": m.thaw(call.args), **outcome}]}
        elif any(case["when"] == call.args for case in known["cases"]):
            self._note(f"{call.name!r} is called twice with the same arguments: it returns the first result twice")
        else:
            known["cases"].append({"when": m.thaw(call.args), **outcome})

    def _answer_missing(self) -> None:
        self._note("calls that the client never answered return nothing")
        for call in self._calls:
            self._script(call, {"result": ""})
        self._calls = []

    def _close(self) -> None:
        """Add results and closing words to a scenario whose recording ends with tool calls."""
        for call in self._calls:
            self._script(call, {"result": "done"})
        self._note("the recording ends with a call: its result and the closing words are not recorded")
        self._rounds.append([_CLOSING])


def _has_calls(answer: Any) -> bool:
    return any(isinstance(part, dict) and "call" in part for part in answer["parts"])


def _ending(answer: WireAnswer) -> Document:
    """How an answer ends, where its parts do not show it."""
    if answer.finish is None or answer.finish in _SHOWN_BY_PARTS:
        return {}
    if answer.finish is m.FinishReason.UNKNOWN and not answer.raw_finish:
        return {}
    raw = {"raw_finish": answer.raw_finish} if answer.finish is m.FinishReason.UNKNOWN else {}
    return {"finish": answer.finish.value, **raw}


def _asks_for_several(settings: Mapping[str, Any]) -> bool:
    return any(isinstance(value := settings.get(name), int) and value > 1 for name in ("n", "candidateCount"))


def _response_headers(exchange: RecordedExchange) -> dict[str, str]:
    return {name: value for name, value in exchange.response_headers.items() if name in _KEPT_HEADERS}
