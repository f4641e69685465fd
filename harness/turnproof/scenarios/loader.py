"""From YAML files to `Scenario`s. Every mistake is refused with the file, the spot, its line and the reason.

The form, with everything optional but `title` and `turns`:

    title: Two tools at once               # one line for people
    depth: full                            # quick (the default) or full
    modes: [stream, batch]                 # default: every mode the content allows
    features: [cache:explicit]             # capabilities that the content does not show by itself
    probes: [fresh, reversed, threads]
    options: {thinking: {budget_tokens: 1024}, max_tokens: 4096, timeout: 0.5, context_tokens: 3000}
    cache: true                            # the session uses the binding's cache plugin
    debug_logs: true                       # the application logs at level DEBUG
    keep_turns: 2                          # what a collection leaves
    subject: session                       # only for the certification of sessions; or of agents
    origin: {host: api.openai.com, dialect: openai-chat, day: 2026-11-02}   # of recorded answers
    sweep: {turn: 0, round: 1}             # at full depth this answer is cancelled and broken at each of its events
    system: You keep a greenhouse log.
    tools:
      - {name: read_sensor, description: Read one sensor, takes: {bed: string, depth?: number}}
    results: {read_sensor: 41 %}           # what tools return, unless a turn says otherwise
    turns:
      - user: How moist is bed 3?          # or a list of texts, {image: png}, {document: pdf}, {file: URI, mime: TYPE}
        model:                             # a list of rounds: round 0 answers the user, round 1 the first results
          - - text: [Let me, " look."]     # in these pieces; a plain text is cut by the dialect
            - {call: read_sensor, args: {bed: "3"}, pieces: ['{"be', 'd": "3"}']}
          - [Bed 3 is at 41 %.]
        results: {read_sensor: {error: no such bed}}      # or a value, or {result:, attachments: [], cases: []}
      - before: [gc, save-load, save-load-other-path, damaged-load, new-provider, reset, tamper]
        revert: 0                          # back to the end of the history's first turn, after what stands in before
        child: {user: Look at bed 5., model: It is dry.}  # a turn of the session's child, before the user speaks
        system: Be brief.                  # from here on; `tools` likewise, by name or declared anew
        advance_clock: 301
        user: "{n}. reading?"
        times: 12                          # this turn, twelve times; {n} counts from 1
        model: [{parts: [It rains.], finish: max_tokens, usage: {output: 9}}]
        cancel: {round: 0, after: "text:1", by: stop}     # or: before-start, batch, backoff, {at: tool, index: 1}
        faults: {kind: status, status: 429, retry-after: 17, times: 1}     # or a list
        response_schema: {type: object}
        error: RateLimitError              # the turn ends with it; `expect: error` for one of any class
        sessions:                          # what is done before with the sessions that an agent keeps
          - new: second                    # labels; that of the one it starts with is `first`
          - resume: first                  # nobody: an id that no session has
          - continue: null                 # or a working directory
          - fork: branch
          - delete: second
          - list: null                     # or a working directory, or everywhere
          - damage: first                  # what is stored of it is cut in half
          - later: null                    # the clock's next second begins
          - open: {session: first, cwd: elsewhere, label: third}   # another agent in its place; or last: true
        denied: read_sensor                # tools that may not run in this turn
        beside: {user: And you?, model: Me too.}          # what somebody else asks an agent while the first tool runs
        cancel: {after: "text:1", by: kill}               # the processes of an agent: the turn ends with an error

A part of an answer is a text, `{text: ...}`, `{thinking: ...}`, `{redacted: DATA}`, `{call: ...}` or `{block:
{...}}`, which says by dialect what no other form can say, each in its own spelling. With a text or a call, `data:
{citations: [...]}` is what else the service tells of it. A call has `broken: true` where a limit stops its arguments
after their pieces, `malformed: true` where the pieces are no JSON though the call ends, `unknown: true` for a tool
that is not declared, and `id:` to fix the id that the service issues otherwise. A case is `{when: {bed: "3"}, result:
41 %}`: what the tool returns to a call with these arguments. Wherever a text may stand, `{repeat: "words ", times:
300}` may too, and among pieces `{each: "leaf ", times: 300}`.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec.structs import replace

from .._base.depth import DEFAULT_DEPTH, DEPTHS
from .._base.suggestions import did_you_mean
from ..dialects import dialect
from ..dialects.base import TRAITS
from ..errors import BindingError, ScenarioError
from ..messages import ToolSchema
from ..provider import OPTIONS, Capabilities
from ..subject import SubjectKind
from ._consistency import needed_features, stream_only
from ._content import read_tool
from ._document import read_document
from ._earlier_conversation import GivenReader
from ._enrichers import read_enrichers
from ._located_value import LocatedValue
from ._turns import TurnReader
from .model import Origin, Probe, Scenario, Turn
from .sweep import read_sweep

FEATURES: Final = tuple(field.name for field in fields(Capabilities))
CACHES: Final = ("explicit", "managed", "implicit")

_KEYS: Final = (
    "name", "title", "subject", "depth", "unless", "modes", "features", "probes", "options", "cache", "debug_logs",
    "keep_turns", "system", "enrich", "watched", "tools", "results", "given", "sweep", "origin", "turns",
)  # fmt: skip
MODES: Final[tuple[Literal["stream", "batch"], ...]] = ("stream", "batch")
PROBES: Final[tuple[Probe, ...]] = get_args(Probe)
SUBJECTS: Final[tuple[SubjectKind, ...]] = get_args(SubjectKind)
MAX_TIMES: Final = 1000
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def load(path: str | Path) -> Scenario:
    """The scenario in a file, named after its folder and file: `tools/parallel.yaml` is `tools/parallel`.

    Raises ScenarioError for everything that is wrong with it.
    """
    file = Path(path)
    return _load(file, f"{file.absolute().parent.name}/{file.stem}")


def from_data(data: Any, name: str, file: str = "") -> Scenario:
    """The scenario that a file with this data would hold. Raises ScenarioError, which names `file`."""
    return _read(LocatedValue(data, file), name)


def load_all(package_dir: str | Path) -> dict[str, Scenario]:
    """Every scenario below a folder, by name, in the order of names; the name is the path without `.yaml`.

    Raises ScenarioError for the first file that is wrong, and for a folder that holds none.
    """
    root = Path(package_dir)
    if not root.is_dir():
        raise ScenarioError(str(root), "$", "there is no such folder")
    if stray := sorted(root.rglob("*.yml")):
        raise ScenarioError(str(stray[0]), "$", "would not be found under this name; scenario files end in .yaml")
    files = {file.relative_to(root).with_suffix("").as_posix(): file for file in root.rglob("*.yaml")}
    if not files:
        raise ScenarioError(str(root), "$", "holds no scenario (*.yaml)")
    return {name: _load(files[name], name) for name in sorted(files)}


def _load(file: Path, name: str) -> Scenario:
    data, lines = read_document(str(file))
    return _read(LocatedValue(data, str(file), "$", lines), name)


def _read(spot: LocatedValue, name: str) -> Scenario:
    spot.mapping(_KEYS, ("title", "turns"), "a scenario")
    if (name_spot := spot.get("name")) and name_spot.nonempty_text("a name") != name:
        name_spot.refuse(f"a scenario is named after its file: {name!r}, not {name_spot.value!r}")
    return _scenario(spot, name)


def _scenario(spot: LocatedValue, name: str) -> Scenario:
    title = spot.at("title").nonempty_text("a title")
    tools = _tools(spot)
    results = dict(scripts.members("results by tool")) if (scripts := spot.get("results")) else {}
    before = GivenReader(tools, results)
    earlier_messages = before.read(given_spot) if (given_spot := spot.get("given")) else ()
    turns, used = _turns(spot, tools, results)
    _check_results(results, used | before.used_results)
    cache, debug, keep, system = (spot.get(key) for key in ("cache", "debug_logs", "keep_turns", "system"))
    scenario = Scenario(
        name=name,
        title=title,
        turns=turns,
        system=system.text() if system else None,
        tools=tools,
        given=earlier_messages,
        options=_options(options) if (options := spot.get("options")) else {},
        cache=cache is not None and cache.flag(),
        debug_logs=debug is not None and debug.flag(),
        probes=probes.choices(PROBES) if (probes := spot.get("probes")) else (),
        depth=depth.choice(DEPTHS) if (depth := spot.get("depth")) else DEFAULT_DEPTH,
        unless=tuple(one.nonempty_text("a scenario") for one in others.one_or_many())
        if (others := spot.get("unless"))
        else (),
        keep_turns=keep.integer(1) if keep else 2,
        subject=subject.choice(SUBJECTS) if (subject := spot.get("subject")) else "adapter",
        sweep=read_sweep(sweep, turns) if (sweep := spot.get("sweep")) else None,
        origin=_origin(spot, turns),
        enrichers=read_enrichers(enrich) if (enrich := spot.get("enrich")) else (),
        watched=watched.flag() if (watched := spot.get("watched")) else False,
        file=spot.file,
    )
    scenario = replace(scenario, modes=_modes(spot, scenario.turns))
    extra = _features(features) if (features := spot.get("features")) else set()
    return replace(scenario, features=tuple(sorted(needed_features(scenario) | extra)))


def _origin(spot: LocatedValue, turns: tuple[Turn, ...]) -> Origin | None:
    """Where recorded answers come from; whoever has some has to say it."""
    found = spot.get("origin")
    if found is None:
        if any(answer.recorded is not None for turn in turns for answer in turn.rounds):
            spot.refuse("has recorded answers, but no 'origin': {host: api.example.com, dialect: openai-chat}")
        return None
    found.mapping(("host", "dialect", "model", "day"), ("host", "dialect"), "where recorded answers come from")
    day, model = found.get("day"), found.get("model")
    if day is not None and not _DAY.fullmatch(day.text()):
        day.refuse("expected a day such as 2026-11-02")
    return Origin(
        host=found.at("host").nonempty_text("the host of the service"),
        dialect=_dialect_name(found.at("dialect")),
        model=model.nonempty_text("a model") if model else "",
        day=day.text() if day else "",
    )


def _dialect_name(spot: LocatedValue) -> str:
    name = spot.nonempty_text("the name of a dialect")
    try:
        dialect(name)
    except BindingError as error:
        spot.refuse(str(error))
    return name


def _tools(spot: LocatedValue) -> tuple[ToolSchema, ...]:
    tools: dict[str, ToolSchema] = {}
    for item in declared.items("a list of tools") if (declared := spot.get("tools")) else ():
        tool = read_tool(item)
        if tool.name in tools:
            item.at("name").refuse(f"the tool {tool.name!r} is declared twice")
        tools[tool.name] = tool
    return tuple(tools.values())


def _turns(
    spot: LocatedValue, tools: tuple[ToolSchema, ...], results: dict[str, LocatedValue]
) -> tuple[tuple[Turn, ...], set[str]]:
    """The turns, and the tools whose scenario-wide results they use."""
    reader = TurnReader(tools, results)
    turns = [reader.read(once) for item in spot.at("turns").items("a list of turns") for once in _repeated(item)]
    if not any(turn.user for turn in turns):
        spot.at("turns").refuse("nobody says anything; at least one turn needs 'user'")
    return tuple(turns), reader.used_results


def _check_results(results: dict[str, LocatedValue], used: set[str]) -> None:
    for name, script in results.items():
        if name not in used:
            script.refuse(f"no turn that lacks its own results calls {name!r}{did_you_mean(name, used)}")


def _repeated(spot: LocatedValue) -> list[LocatedValue]:
    """A turn with `times: n`, n times, with `{n}` in its texts counting from 1; any other turn once."""
    if not isinstance(spot.value, dict) or "times" not in spot.value:
        return [spot]
    times = spot.at("times").integer(1, MAX_TIMES)
    turn = {key: value for key, value in spot.value.items() if key != "times"}
    return [spot.with_value(_numbered(turn, str(number))) for number in range(1, times + 1)]


def _numbered(value: Any, number: str) -> Any:
    match value:
        case str():
            return value.replace("{n}", number)
        case list():
            return [_numbered(item, number) for item in value]
        case dict():
            return {key: _numbered(item, number) for key, item in value.items()}
        case _:
            return value


def _modes(spot: LocatedValue, turns: tuple[Turn, ...]) -> tuple[Literal["stream", "batch"], ...]:
    reasons = {number: reason for number, turn in enumerate(turns) if (reason := stream_only(turn))}
    modes_spot = spot.get("modes")
    if modes_spot is None:
        return ("stream",) if reasons else MODES
    modes = modes_spot.choices(MODES)
    if not modes:
        modes_spot.refuse("needs at least one mode")
    if "batch" in modes and reasons:
        number, reason = next(iter(reasons.items()))
        modes_spot.refuse(f"turn {number} can only be streamed: {reason}")
    return modes


def _options(spot: LocatedValue) -> dict[str, Any]:
    spot.mapping((*OPTIONS, "context_tokens"), what="options")
    options: dict[str, Any] = {}
    if thinking := spot.get("thinking"):
        thinking.mapping(("budget_tokens", "type"), what="a thinking setting")
        if len(thinking.value) != 1:
            thinking.refuse("is {budget_tokens: n} or {type: adaptive}")
        budget, kind = thinking.get("budget_tokens"), thinking.get("type")
        options["thinking"] = (
            {"budget_tokens": budget.integer(1)} if budget else {"type": kind and kind.choice(("adaptive",))}
        )
    for name in ("max_tokens", "context_tokens"):
        if limit := spot.get(name):
            options[name] = limit.integer(1)
    if timeout := spot.get("timeout"):
        options["timeout"] = timeout.number(0.01)
    return options


_KINDS = {"cache": CACHES, "wire": TRAITS}


def _features(spot: LocatedValue) -> set[str]:
    found: set[str] = set()
    for item in spot.items("a list of capabilities"):
        name, _, kind = item.nonempty_text("a capability").partition(":")
        item.with_value(name).choice(FEATURES)
        if kind and name not in _KINDS:
            item.refuse(f"only 'cache' and 'wire' come in kinds, as in cache:explicit; {name!r} does not")
        if kind:
            item.with_value(kind).choice(_KINDS[name])
        if item.value in found:
            item.refuse(f"{item.value!r} stands here twice")
        found.add(item.value)
    return found
