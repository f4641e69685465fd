"""What spans must not say: the content of a conversation. Traces go to other people than conversations do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from turnproof.judge.finding import Compared, Place
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, Part, Text, Thought, ToolResult, thaw
from turnproof.run.transcript import HistorySnapshot, SpanMade

from .spans import at_span, session_spans

_CONTENT = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.prompt",
    "gen_ai.completion",
)
"""Attributes that the conventions have for content: somebody has to ask for them. The last two are earlier names."""

_NAMES = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.response.id",
    "gen_ai.response.model",
    "gen_ai.tool.call.id",
    "error.type",
)
"""Attributes whose values are nobody's content, even where somebody said the same."""

_LEAST = 8
"""Characters of a text that is told from everything else; with fewer, chance could put it anywhere."""

_MOST = 32
"""Characters of it that are looked for: who records content may cut it short."""

_ESCAPABLE = re.compile(r"[\s\"'\\{}\[\]]+")
_UNCHANGED = re.compile(r"[ -~]+")


_CONTENT_ATTRIBUTE = finding(
    "telemetry/content-stays-out/attribute",
    "A span has an attribute for content, but content is not switched on.",
    "no attribute `{attribute:words}`",
)
_TEXT_IN_SPAN = finding(
    "telemetry/content-stays-out/text",
    "A span has content of the conversation.",
    "no text of the conversation",
    "{observed}, which is {what:words}",
)


@check("telemetry/content-stays-out")
def content_stays_out(view: View) -> Findings:
    """No text of the conversation, no argument and no result of a tool, in any field of any span."""
    spans = [(span, _unquoted(_text(span))) for span in session_spans(view)]
    everything = "\n".join(text for _, text in spans)
    for span, _ in spans:
        for name in _CONTENT:
            if value := span.attributes.get(name):
                yield _CONTENT_ATTRIBUTE(at_span(view, span, "attributes", name), observed=value, attribute=name)
    for what, secret in _secrets(view):
        if secret in everything:
            for span in (span for span, text in spans if secret in text):
                yield _TEXT_IN_SPAN(_at_text(view, span, secret), observed=secret, what=what)
        elif spans:
            yield Compared("texts that are in no span")


def _at_text(view: View, span: SpanMade, secret: str) -> Place:
    """The first field, attribute or note of a span that has this in it; the span where it stands in several."""
    fields: list[tuple[tuple[str | int, ...], str]] = [(("name",), span.name), (("description",), span.description)]
    fields += [(("attributes", name), _json(value)) for name, value in span.attributes.items()]
    fields += [(("notes", number), _json(note)) for number, note in enumerate(span.notes)]
    found = next((steps for steps, text in fields if secret in _unquoted(text)), ())
    return at_span(view, span, *found)


def _secrets(view: View) -> Iterator[tuple[str, str]]:
    """What was said, each once, with what it is; without what a span may rightly say: names, models and ids."""
    scenario = view.scenario
    tools = [tool.name for index in range(len(scenario.turns)) for tool in scenario.tools_in(index)]
    # Every snapshot repeats the history, with the very messages of the one before.
    every = (message for event in view.transcript.of(HistorySnapshot) for message in event.messages)
    messages = {id(message): message for message in every}.values()
    named = [str(span.attributes.get(name, "")) for span in session_spans(view) for name in _NAMES]
    public = _unquoted(" ".join((view.transcript.model, *tools, *named)))
    found: dict[str, str] = {}
    for what, text in _message_texts(view, messages):
        if (secret := _longest(text)) and secret not in public:
            found.setdefault(secret, what)
    return ((what, secret) for secret, what in found.items())


def _message_texts(view: View, messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    scenario = view.scenario
    for system in (scenario.system, *(turn.system for turn in scenario.turns)):
        yield from [("a system text", system)] if system else ()
    for turn in scenario.turns:
        yield from (("a user's text", part.text) for part in turn.user if isinstance(part, Text))
    for message in messages:
        for part in message.parts:
            yield from _words(message, part)


def _words(message: Message, part: Part) -> Iterator[tuple[str, str]]:
    match part:
        case Text(text=text):
            yield "a user's text" if message.role == "user" else "a model's text", text
        case Thought(text=text):
            yield "a model's thinking", text
        case FunctionCall(args=args) if args:
            yield "an argument of a tool", _json(thaw(args))
        case ToolResult(result=result, is_error=False):
            yield "a tool's result", result if isinstance(result, str) else _json(thaw(result))


def _longest(text: str) -> str:
    """The longest piece of a text that looks the same however it is written down; empty if it is too short."""
    longest = max((_unquoted(piece) for piece in _UNCHANGED.findall(text)), key=len, default="")
    return longest[:_MOST] if len(longest) >= _LEAST else ""


def _unquoted(text: str) -> str:
    """A text without what JSON, or a `repr`, adds or writes in another way."""
    return _ESCAPABLE.sub("", text)


def _text(span: SpanMade) -> str:
    return " ".join((span.name, span.description, _json(span.attributes), _json(span.notes)))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
