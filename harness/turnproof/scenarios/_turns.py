"""One turn: what is said and answered, and what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal, get_args

from msgspec.structs import replace

from .. import errors
from .._base.suggestions import did_you_mean
from ..dialects.sse import Spelling
from ..messages import FunctionCall, Text, ToolSchema
from ._answers import RoundReader
from ._consistency import check_turn
from ._content import read_result, read_tool, read_user
from ._located_value import LocatedValue
from ._sessions import StepReader
from .model import Action, Cut, CutPoint, Fault, FaultKind, Injection, Interjection, ScriptRound, ToolScript, Turn

EVENTS: Final = ("start", "text", "thinking", "args", "call", "usage", "end")
CUTS: Final[tuple[CutPoint, ...]] = get_args(CutPoint)
BEFORE: Final[tuple[Action, ...]] = get_args(Action)
EXPECTED: Final[tuple[Literal["answer", "error", "cancelled"], ...]] = ("answer", "error", "cancelled")
BY: Final[tuple[Literal["token", "stop", "kill"], ...]] = ("token", "stop", "kill")
FAULTS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)
SPELLINGS: Final[tuple[Spelling, ...]] = get_args(Spelling)
ERRORS: Final = tuple(
    sorted(
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.ProviderError) and kind is not errors.ProviderError
    )
)

_CUT_ENDS: Final[Mapping[str, Literal["error", "cancelled"]]] = {
    "token": "cancelled",
    "stop": "cancelled",
    "kill": "error",
}
_KEYS: Final = (
    "user", "model", "results", "system", "tools", "before", "revert", "cancel", "faults",
    "response_schema", "expect", "error", "advance_clock", "inject", "interject", "child", "children", "sessions",
    "denied", "beside", "background", "take_back",
)  # fmt: skip
BESIDE_KEYS: Final = ("user", "model")
CHILD_KEYS: Final = (*BESIDE_KEYS, "status", "tool", "outlives")
WAITS: Final[tuple[Literal["seconds", "date"], ...]] = ("seconds", "date")
_PLACE: Final = ("index", "after")
FAULT_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "status": ("status", "retry-after", "retry-after-as", "message", "error-kind"),
    "reset": _PLACE,
    "stall": _PLACE,
    "truncate": _PLACE,
    "garbage": _PLACE,
    "error-event": (*_PLACE, "status"),
    "no-end": _PLACE,
    "respelled": ("spelling",),
}


class TurnReader:
    """Reads the turns in order and remembers what stays in force between them: the tools."""

    def __init__(self, tools: tuple[ToolSchema, ...], results: Mapping[str, LocatedValue]) -> None:
        """`results` say what tools return where a turn does not say otherwise."""
        self.used_results: set[str] = set()
        self._results = results
        self._tools = tools
        self._known = {tool.name: tool for tool in tools}
        self._steps = StepReader()

    def read(self, spot: LocatedValue) -> Turn:
        """The next turn. Raises ScenarioError."""
        spot.mapping(_KEYS, what="a turn")
        user, model, tools, before = (spot.get(key) for key in ("user", "model", "tools", "before"))
        changed = self._change(tools) if tools else None
        self._tools = self._tools if changed is None else changed
        reader = RoundReader({tool.name for tool in self._tools})
        rounds = reader.read(model) if model else ()
        cancel = read_cut(cut) if (cut := spot.get("cancel")) else None
        interjection = _interjection(interject_spot) if (interject_spot := spot.get("interject")) else None
        system, schema, clock = (spot.get(key) for key in ("system", "response_schema", "advance_clock"))
        child, children = spot.get("child"), spot.get("children")
        childs = _child(child, reader, "a turn of the session's child", CHILD_KEYS) if child else None
        child_tool = tool.choice(self._declared) if child and (tool := child.get("tool")) else None
        turn = Turn(
            user=read_user(user) if user else (),
            rounds=rounds,
            results=self._scripts(spot, rounds, cancel, reader.unknown, child_tool),
            system=system.text() if system else None,
            tools=changed,
            before=tuple(action.choice(BEFORE) for action in before.one_or_many()) if before else (),
            revert=revert.integer(0) if (revert := spot.get("revert")) else None,
            cancel=cancel,
            faults=tuple(map(read_fault, faults.one_or_many())) if (faults := spot.get("faults")) else (),
            response_schema=schema.json_object("a JSON Schema") if schema else None,
            expect=_expected(spot, cancel),
            error=error.choice(ERRORS) if (error := spot.get("error")) else None,
            advance_clock=clock.number() if clock else 0.0,
            inject=_injection(inject) if (inject := spot.get("inject")) else None,
            interject=interjection,
            child=childs,
            child_tool=child_tool,
            child_outlives=outlives.flag() if child and (outlives := child.get("outlives")) else False,
            children=tuple(
                _child(one, reader, "a turn of one child", BESIDE_KEYS)
                for one in (children.items("turns of several children") if children else ())
            ),
            sessions=self._steps.read(steps) if (steps := spot.get("sessions")) else (),
            denied=tuple(self._denied(denied)) if (denied := spot.get("denied")) else (),
            beside=_child(beside_spot, reader, "a turn beside this one", BESIDE_KEYS)
            if (beside_spot := spot.get("beside"))
            else None,
            background=slow.choice(self._declared) if (slow := spot.get("background")) else None,
            take_back=take_back_spot.flag() if (take_back_spot := spot.get("take_back")) else False,
        )
        check_turn(turn, spot)
        return turn

    def _change(self, spot: LocatedValue) -> tuple[ToolSchema, ...]:
        """The tools from now on: declarations, and names of tools declared before."""
        changed: dict[str, ToolSchema] = {}
        for item in spot.items("a list of tools"):
            if not isinstance(item.value, str):
                tool = read_tool(item)
            elif item.value in self._known:
                tool = self._known[item.value]
            else:
                item.refuse(f"no tool {item.value!r} was declared before{did_you_mean(item.value, self._known)}")
            if tool.name in changed:
                item.refuse(f"the tool {tool.name!r} stands here twice")
            changed[tool.name] = tool
        self._known |= changed
        return tuple(changed.values())

    def _denied(self, spot: LocatedValue) -> Iterator[str]:
        for item in spot.one_or_many():
            yield item.choice(self._declared)

    @property
    def _declared(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self._tools)

    def _scripts(
        self,
        spot: LocatedValue,
        rounds: tuple[ScriptRound, ...],
        cancel: Cut | None,
        unknown: Collection[str],
        child_tool: str | None,
    ) -> dict[str, ToolScript]:
        """What each called tool returns, by name; a tool that runs must have something to return.

        `child_tool` returns what the child answers.
        """
        own = dict(results.members("results by tool")) if (results := spot.get("results")) else {}
        scripts: dict[str, ToolScript] = {}
        called: set[str] = set()
        for number, round_ in enumerate(rounds):
            names = [part.part.name for part in round_.parts if isinstance(part.part, FunctionCall)]
            called.update(names)
            interrupted = cancel is not None and cancel.round == number and cancel.at in ("tool", "between-tools")
            runs = number + 1 < len(rounds) or interrupted
            for name in names:
                result_spot = own.get(name) or self._results.get(name)
                if result_spot is not None:
                    scripts[name] = read_result(result_spot)
                    self.used_results.update({name} - own.keys())
                elif runs and name not in unknown and name != child_tool:
                    spot.at("model").refuse(
                        f"calls {name!r}, but neither this turn nor the scenario has results for it"
                    )
        for name, result_spot in own.items():
            if name not in called:
                result_spot.refuse(f"no call of this turn names {name!r}{did_you_mean(name, called)}")
            if name in unknown:
                result_spot.refuse(f"{name!r} is an unknown tool, so it returns nothing")
            if name == child_tool:
                result_spot.refuse(f"{name!r} returns what the child answers")
        return scripts


def read_cut(spot: LocatedValue) -> Cut:
    """When the turn is cancelled: one word (`before-start`), or a mapping (`{round: 1, after: "text:2"}`)."""
    if isinstance(spot.value, str):
        word = spot.choice(CUTS)
        if word in ("event", "child"):
            spot.refuse(f"needs the event: {{at: {word}, after: 'text:1'}} or {{at: {word}, index: 3}}")
        return Cut(at=word)
    spot.mapping(("at", "round", "index", "after", "by", "on-piece"), what="a cancel point")
    at, after, by, piece = spot.get("at"), spot.get("after"), spot.get("by"), spot.get("on-piece")
    word = at.choice(CUTS) if at else "event"
    if after and word not in ("event", "child"):
        after.refuse(f"names an event, but the turn is cancelled at {word!r}")
    if word in ("event", "child") and not after and "index" not in spot.value:
        spot.refuse("needs the event: 'after' (text:1) or 'index'")
    if piece and word != "event":
        piece.refuse(f"needs an event, at which the stream is held; the turn is cancelled at {word!r}")
    how = by.choice(BY) if by else "token"
    if by and how != "token" and word == "before-start":
        by.refuse("there is no turn yet that could be stopped; before its start a turn is cancelled by its token")
    return Cut(
        at=word,
        round=_optional_integer(spot, "round", 0),
        index=_optional_integer(spot, "index", 0),
        after=_event(after) if after else None,
        by=how,
        on_piece=piece.integer(1) if piece else 0,
    )


def _interjection(spot: LocatedValue) -> Interjection:
    spot.mapping(("say", "at", "round", "index", "after"), ("say",), "what the user says in between")
    cut = read_cut(spot.with_value({key: value for key, value in spot.value.items() if key != "say"}))
    if cut.at not in ("event", "tool"):
        spot.at("at").refuse("the user can say something at an event of a stream, or while a tool runs ('tool')")
    return Interjection(spot.at("say").nonempty_text("what the user says in between"), cut)


def _child(spot: LocatedValue, reader: RoundReader, what: str, keys: tuple[str, ...]) -> Turn:
    spot.mapping(keys, BESIDE_KEYS, what)
    turn = Turn((Text(spot.at("user").nonempty_text("what is said in it")),), reader.read(spot.at("model")))
    check_turn(turn, spot)
    if (status := spot.get("status")) is None:
        return turn
    return replace(turn, faults=(Fault("status", status=status.integer(400, 499)),), expect="error")


def _injection(spot: LocatedValue) -> Injection:
    spot.mapping(("command", "outcome"), ("command", "outcome"), "a command of the user")
    return Injection(
        spot.at("command").nonempty_text("the command"), spot.at("outcome").nonempty_text("what came of it")
    )


def read_fault(spot: LocatedValue) -> Fault:
    """What goes wrong on the socket: a kind, where, and for how many attempts."""
    spot.members("a fault: {kind: reset, after: 'text:2'}")
    if "kind" not in spot.value:
        spot.refuse(f"needs 'kind': one of {', '.join(FAULTS)}")
    kind = spot.at("kind").choice(FAULTS)
    own = FAULT_KEYS.get(kind, ())
    spot.mapping(("kind", "round", "times", *own), what=f"a {kind} fault")
    status, delay, after = spot.get("status"), spot.get("retry-after"), spot.get("after")
    message, error_kind, spelling = spot.get("message"), spot.get("error-kind"), spot.get("spelling")
    form = spot.get("retry-after-as")
    if kind == "status" and status is None:
        spot.refuse("needs 'status': an HTTP status from 400 to 599")
    if after and "index" in spot.value:
        after.refuse("give 'index' or 'after', not both")
    if form is not None and delay is None:
        form.refuse("says how 'retry-after' is written: give that too")
    if kind == "respelled" and spelling is None:
        spot.refuse(f"needs 'spelling': one of {', '.join(SPELLINGS)}")
    return Fault(
        kind=kind,
        round=_optional_integer(spot, "round", 0),
        # A refused connection has no event to wait for, and without one a stream ends where its end marker would be.
        index=_optional_integer(spot, "index", -1 if kind in ("refuse-connection", "no-end") else 0, least=-1),
        status=status.integer(400, 599) if status else 0,
        retry_after=delay.number() if delay else None,
        retry_after_as=form.choice(WAITS) if form else "seconds",
        times=_optional_integer(spot, "times", 1, least=1),
        after=_event(after) if after else None,
        message=message.text() if message else None,
        error_kind=error_kind.nonempty_text("an error type") if error_kind else None,
        spelling=spelling.choice(SPELLINGS) if spelling else None,
    )


def _event(spot: LocatedValue) -> str:
    name = spot.nonempty_text("an event such as text:2")
    kind, _, ordinal = name.partition(":")
    spot.with_value(kind).choice(EVENTS)
    if not (ordinal.isascii() and ordinal.isdigit() and int(ordinal) > 0):
        spot.refuse(f"expected an event such as {kind}:2, counted from 1, found {name!r}")
    return name


def _expected(spot: LocatedValue, cancel: Cut | None) -> Literal["answer", "error", "cancelled"]:
    usual: Literal["answer", "error", "cancelled"] = (
        _CUT_ENDS[cancel.by] if cancel else "error" if "error" in spot.value else "answer"
    )
    return expect_spot.choice(EXPECTED) if (expect_spot := spot.get("expect")) else usual


def _optional_integer(spot: LocatedValue, key: str, default: int, least: int = 0) -> int:
    return value_spot.integer(least) if (value_spot := spot.get(key)) else default
