"""Tool calls as the protocol shows them: in pieces, and under names that every program makes in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.messages import JSON, FunctionCall, ToolResult

from ..claude_cli.tools import PREFIX, SERVER, wire_name

Update = Mapping[str, Any]

_ENDED = ("completed", "failed")


@dataclass(eq=False)
class Shown:
    """One call, as far as it has been shown. `is_announced` says whether its listener knows of it."""

    id: str
    name: str = ""
    args: Mapping[str, Any] | None = None
    sure: bool = False
    """Whether its arguments are known to be complete."""
    status: str = "pending"
    output: JSON = None
    ended: bool = False
    """Whether its result has been shown."""
    is_announced: bool = False

    def call(self) -> FunctionCall:
        """As the session's own."""
        return FunctionCall(self.id, self.name, dict(self.args or {}))

    def result(self) -> ToolResult:
        """What it gave."""
        return ToolResult(self.id, self.name, self.output, is_error=self.status == "failed")


class Names:
    """From the name that a program shows back to the tool's own."""

    def __init__(self, tools: Iterable[str]) -> None:
        # The longest first: one tool's name may end another's.
        self._own = sorted(
            {(wire_name(name).removeprefix(PREFIX), name) for name in tools}, key=lambda pair: -len(pair[0])
        )

    def own(self, shown: str) -> str | None:
        """The tool that is meant; None for one that is none of the session's."""
        for wire, name in self._own:
            if shown == wire or any(form.format(wire) in shown for form in _FORMS if shown.endswith(form.format(wire))):
                return name
        # Behind the name may stand what server it is of.
        return next((name for wire, name in self._own if shown.startswith(f"{wire} ({SERVER} ")), None)


_FORMS = (f"mcp__{SERVER}__{{}}", f"mcp_{SERVER}_{{}}", f"{SERVER}/{{}}", f"{SERVER}.{{}}", f"{SERVER}__{{}}")


class Calls:
    """The calls of a session, in the order in which they were shown."""

    def __init__(self, tools: Iterable[str]) -> None:
        self.names = Names(tools)
        self._by_id: dict[str, Shown] = {}

    def update(self, update: Update) -> Shown | None:
        """An update of a call: the call as it stands after it. None for one that says nothing of one."""
        number = update.get("toolCallId")
        if not isinstance(number, str):
            return None
        fresh = number not in self._by_id
        shown = self._by_id.setdefault(number, Shown(number))
        self._name(shown, update)
        arguments = _args(update)
        if arguments is not None:
            shown.sure = shown.sure or not fresh or bool(arguments)
            if arguments or shown.args is None:
                shown.args = arguments
        status = update.get("status")
        if isinstance(status, str):
            shown.status = status
            shown.sure = shown.sure or shown.status in _ENDED
            if shown.status in _ENDED:
                shown.output = _output(update, shown.output)
                # A call of a loaded session may be shown as one that is over, and its result after it.
                shown.ended = shown.output is not None or not fresh
        return shown

    def _name(self, shown: Shown, update: Update) -> None:
        for title in _titles(update):
            own = self.names.own(title)
            if own is not None:
                shown.name = own
                return
            shown.name = shown.name or title


def _titles(update: Update) -> Sequence[str]:
    """Where the name of a call may stand, the surest place first."""
    meta, raw_input = update.get("_meta"), update.get("rawInput")
    found: list[object] = []
    if isinstance(meta, Mapping):
        claude = meta.get("claudeCode")
        found.append(claude.get("toolName") if isinstance(claude, Mapping) else meta.get("toolName"))
    if isinstance(raw_input, Mapping) and raw_input.get("server") == SERVER:
        found.append(f"{SERVER}/{raw_input.get('tool')}")
    found.append(update.get("title"))
    return [each for each in found if isinstance(each, str) and each]


def _args(update: Update) -> Mapping[str, Any] | None:
    raw_input = update.get("rawInput")
    if not isinstance(raw_input, Mapping):
        return None
    if raw_input.get("server") == SERVER and "tool" in raw_input:
        within = raw_input.get("arguments")
        return within if isinstance(within, Mapping) else {}
    match raw_input:
        case {"request": {"_meta": {"tool_params": Mapping() as params}}}:
            return params  # a question of Codex's is a form, and the arguments are beside it
    return raw_input


def _output(update: Update, before: JSON) -> JSON:
    """The text of a result: as content, or as the program has it from the server."""
    texts = [text for item in _items(update.get("content")) if (text := text_of(item.get("content"))) is not None]
    if not texts:
        raw = update.get("rawOutput")
        if isinstance(raw, Mapping) and isinstance(raw.get("content"), list):
            raw = raw["content"]
        texts = [text for item in _items(raw) if (text := text_of(item)) is not None]
        if not texts and isinstance(raw, str):
            texts = [raw]
    return "".join(texts) if texts else before


def text_of(content: object) -> str | None:
    """The text of a content block; None where it is of another kind."""
    if isinstance(content, Mapping) and content.get("type", "text") == "text":
        text = content.get("text")
        return text if isinstance(text, str) else None
    return None


def _items(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
