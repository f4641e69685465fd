"""Texts that steer terminals, break documents or are none at all, wherever an adapter puts them: whole, or refused.

What arrives is read back from the request by the dialect and compared with what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from session.fakes import FakeStateless

from turnproof.errors import InvalidRequestError, PayloadError
from turnproof.messages import FunctionCall, Message, Text, Thought, ToolResult, ToolSchema, same_history
from turnproof.provider import PATHS, Path
from turnproof.session import Session

from .service import BINDINGS, Service

TEXTS = {
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x85",
    "nul": "a\0b",
    "html": "<script>alert(1)</script>&amp;<!--",
    "terminal": "\x1b[31mred\x1b]0;title\a\x9b2J",
    "right to left": "\u202eabc\u2066def",
    "zero width": "a\u200b\u200d\u2060\ufeffb",
    "noncharacters": "\ufffe\uffff\U0010ffff",
    "combining": "e" + "\u0301" * 300,
    "line ends": "a\u2028b\u2029c\x85d\x0be\r\nf",
    "families": "👩‍👩‍👧‍👦🏳️‍🌈北",
    "events": 'data: {"a": 1}\n\nevent: x\n\n: y\n\n',
    "quotes": "\"\\'`${x}{{y}}%s{0}",
    "an id of elsewhere": "functions.x:0",
    "eighty characters": "x" * 80,
    "long": "words " * 20_000,
}
HALVES = {"high": "a\ud800b", "low": "\udc00", "pair in two": "\ud83c\udf31", "escaped byte": "caf\udce9"}

Conversation = tuple[Sequence[Message], Sequence[ToolSchema], str]


def talk(
    question: str = "hi",
    *,
    answer: str = "look",
    name: str = "read",
    id: str = "c1",
    args: object = None,
    result: object = "ok",
    describes: str = "Reads.",
    takes: str = "bed",
    system: str = "Be brief.",
) -> Conversation:
    """A conversation with one call, and whatever text is to be tried in its place."""
    schema = {"type": "object", "properties": {takes: {"type": "string"}}}
    messages = (
        Message.user(question),
        Message.model(answer, FunctionCall(id, name, args if args is not None else {})),  # type: ignore[arg-type]
        Message.tool(ToolResult(id, name, result)),
        Message.user("go on"),
    )
    return messages, [ToolSchema(name, describes, schema)], system


PLACES: dict[str, Callable[[str], Conversation]] = {
    "what the user says": lambda text: talk(text),
    "what the model says": lambda text: talk(answer=text),
    "system text": lambda text: talk(system=text),
    "name of a tool": lambda text: talk(name=text),
    "what a tool is for": lambda text: talk(describes=text),
    "name of a parameter": lambda text: talk(takes=text),
    "id of a call": lambda text: talk(id=text),
    "argument": lambda text: talk(args={"bed": text}),
    "name of an argument": lambda text: talk(args={text: "3"}),
    "result": lambda text: talk(result=text),
    "member of a result": lambda text: talk(result={text: [text]}),
}


TOO_LONG = {("openai", "what a tool is for", "long"): "maximum length 1024"}
"""A text that an API has no room for at a place, and the words in which it says so."""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# Prompts of 8,000 tokens are all that GitHub Models takes, and the longest of these texts has more.
@pytest.fixture(scope="module", params=[name for name in BINDINGS if name != "github_models"])
def service(request: pytest.FixtureRequest) -> Service:
    return Service(request.param)


def send(service: Service, path: Path, conversation: Conversation) -> None:
    messages, tools, system = conversation
    provider = service.open(path)
    if path == "stateless":
        provider.complete(list(messages), system, tools)
    else:
        provider.create_session(system, tools, list(messages[:-1]))
        provider.send_message(messages[-1].text)


@pytest.mark.parametrize("place", PLACES)
def test_a_text_arrives_as_it_was_said(service: Service, place: str) -> None:
    for name, text in TEXTS.items():
        for path in PATHS:
            service.forget()
            messages, tools, system = PLACES[place](text)
            if words := TOO_LONG.get((service.name, place, name)):
                with pytest.raises(InvalidRequestError, match=words):
                    send(service, path, (messages, tools, system))
                continue
            send(service, path, (messages, tools, system))
            assert service.refusals == [], name
            found = service.dialect.differences(messages, system, tools, service.calls[-1], service.binding.model)
            assert [difference for difference in found if difference.violation] == [], name


REFUSED_WHEN_MADE = {"name of a parameter", "argument", "name of an argument", "result", "member of a result"}
OPENAI_FORMS = ("openai", "copilot_responses", "openai_responses")
REWRITTEN = {
    **{name: {"name of a tool", "id of a call"} for name in ("anthropic", "zai", "ollama", "antigravity, Claude")},
    **{name: {"name of a tool"} for name in ("google_genai", "google_interactions", "antigravity", *OPENAI_FORMS)},
}
"""What an API takes in a few characters only goes out under a name that is made of those."""


@pytest.mark.parametrize("place", PLACES)
def test_half_a_surrogate_pair_is_refused_before_anything_is_sent(service: Service, place: str) -> None:
    for half in HALVES.values():
        for path in PATHS:
            service.forget()
            if place in REFUSED_WHEN_MADE:
                with pytest.raises(PayloadError, match="lone surrogate"):
                    PLACES[place](half)
            elif place in REWRITTEN[service.name]:
                send(service, path, PLACES[place](half))
                assert service.refusals == []
            else:
                with pytest.raises(InvalidRequestError, match="Unicode") as refusal:
                    send(service, path, PLACES[place](half))
                assert service.requests == 0
                assert refusal.value.status is None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("part", [Text("a\ud800"), Thought("a\ud800")], ids=["text", "thought"])
def test_the_refusal_names_message_and_part(service: Service, path: Path, part: Text | Thought) -> None:
    messages = [Message.user("hi"), Message("model", (Text("ho"), part), "m7"), Message.user("go on")]
    with pytest.raises(InvalidRequestError, match=r"message 'm7' of the model: \$\.parts\[1\] is a text with"):
        send(service, path, (messages, [], ""))


def test_texts_of_every_kind_go_through_a_saved_session() -> None:
    """Half of a pair too: what a session holds is kept, even if nobody can be sent it."""
    messages = [Message.user(text) for name, text in (TEXTS | HALVES).items() if name != "pair in two"]
    first, second = Session(FakeStateless()), Session(FakeStateless())
    first.reset(messages)
    second.restore(first.save())
    assert same_history(second.history.messages, messages)


def test_a_pair_that_came_in_two_halves_is_whole_after_a_save() -> None:
    """JSON has one way to write both."""
    first, second = Session(FakeStateless()), Session(FakeStateless())
    first.reset([Message.user(HALVES["pair in two"])])
    second.restore(first.save())
    assert second.history.messages[0].text == "🌱"
