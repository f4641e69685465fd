"""What parts and messages hold: texts, thoughts, calls, results and instructions.

Where adapters may rightly differ (text in one part or in several, blank text sent or left out) the readings are made
equal first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from turnproof import messages as m
from turnproof.dialects.atoms import media_key, token_of
from turnproof.dialects.attachment_labels import are_labels
from turnproof.dialects.base import Call
from turnproof.dialects.call_pairing import pair_calls
from turnproof.judge.view import TurnView

from .words import user_words, without_blanks


def spoken_text(parts: Iterable[m.Part]) -> str:
    """All visible text. Blank text parts are left out: an adapter may keep or drop them."""
    return "".join(part.text for part in parts if isinstance(part, m.Text) and part.text.strip())


def spoken_as(parts: Iterable[m.Part], answer_parts: Iterable[m.Part]) -> str:
    """The visible text of a response's parts, to compare with the `spoken_text` of the answer on the wire,
    `answer_parts`.

    The two are equal where only blank texts of the answer are left out or joined to the text beside them, and where
    texts of the answer are joined with other white space: a message that has a single text cannot keep them apart.
    """
    own, texts = list(parts), [part.text for part in answer_parts if isinstance(part, m.Text)]
    whole = "".join(part.text for part in own if isinstance(part, m.Text))
    if whole == "".join(texts) and all(text.strip() for text in texts):  # nearly always, and without a pattern
        return whole
    pattern = r"\s*".join(re.escape(text) if text.strip() else "" for text in texts)
    if re.fullmatch(pattern, whole):
        return "".join(text for text in texts if text.strip())
    return spoken_text(own)


def calls_in(parts: Iterable[m.Part]) -> tuple[m.FunctionCall, ...]:
    """The tool calls in order."""
    return tuple(part for part in parts if isinstance(part, m.FunctionCall))


def attached_to_results(messages: Iterable[m.Message]) -> frozenset[object]:
    """The keys of all that tools have attached to their results."""
    results = (result for message in messages for result in message.results)
    return frozenset(media_key(each) for result in results for each in result.attachments)


def shows_attachments(message: m.Message, attached: frozenset[object]) -> bool:
    """Whether a message on the user's side says nothing of the user's: it shows what results have attached, with few
    words."""
    shown = [media_key(part) for part in message.parts if isinstance(part, m.InlineData | m.FileRef)]
    is_users_side = message.role == "user" and bool(shown)
    return is_users_side and attached.issuperset(shown) and are_labels([message.text], len(shown))


def thoughts_in(parts: Iterable[m.Part]) -> tuple[m.Thought, ...]:
    """The thoughts in order."""
    return tuple(part for part in parts if isinstance(part, m.Thought))


def telling_thoughts(parts: Iterable[m.Part]) -> tuple[m.Thought, ...]:
    """The thoughts that say or carry something, under whatever key: a library may open a blank one for a summary that
    never comes."""
    return tuple(thought for thought in thoughts_in(parts) if thought.text.strip() or _carries(thought))


def thought_runs(parts: Iterable[m.Part], wire: Iterable[m.Part]) -> tuple[tuple[m.Thought, ...], ...]:
    """The telling thoughts, each alone where the wire has signatures of thoughts. Where it has none, neighbours are
    together, whatever an adapter notes of them: an API has no border between them that a stream could show, and the
    pieces of one may stay apart or be joined."""
    joins = not any(token_of(thought) for thought in thoughts_in(wire))
    runs: list[tuple[m.Thought, ...]] = []
    is_open = False
    for part in parts:
        if not isinstance(part, m.Thought):
            is_open = False
        elif telling_thoughts((part,)):
            if is_open:
                runs[-1] = (*runs[-1], part)
            else:
                runs.append((part,))
            is_open = joins
    return tuple(runs)


def run_text(run: Iterable[m.Thought]) -> str:
    """The text of thoughts that are one."""
    return "".join(thought.text for thought in run)


def _carries(thought: m.Thought) -> bool:
    return thought.provider_data is not None and any(thought.provider_data.data.values())


def results_in(messages: Iterable[m.Message]) -> tuple[m.ToolResult, ...]:
    """All tool results of some messages, in order."""
    return tuple([part for message in messages for part in message.parts if isinstance(part, m.ToolResult)])


def calls_made(messages: Iterable[m.Message]) -> tuple[m.FunctionCall, ...]:
    """All tool calls of some messages, in order."""
    return tuple([part for message in messages for part in message.parts if isinstance(part, m.FunctionCall)])


def in_two_roles(messages: Sequence[m.Message]) -> list[m.Message]:
    """Instructions between turns in the user's name, beside what else the user says: some APIs know no other place."""
    found: list[m.Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if found and role == "user" == found[-1].role:
            message = m.Message("user", (*found.pop().parts, *message.parts), message.message_id)
        found.append(m.Message(role, message.parts, message.message_id))
    return found


def has_user_texts(turn: TurnView, messages: Iterable[m.Message]) -> bool:
    """Whether every text that the user said in a turn stands among what users said."""
    words = user_words(messages)
    parts = turn.script.user if turn.script is not None else ()
    return all(without_blanks([part.text]) in words for part in parts if isinstance(part, m.Text))


def model_texts(messages: Iterable[m.Message]) -> list[str]:
    """The visible text of every model message that has some."""
    texts = (spoken_text(message.parts) for message in messages if message.role == "model")
    return [text for text in texts if text]


def system_text(call: Call) -> str:
    """All instructions of a request, in its system field or in system messages."""
    return "\n".join(_instructions(call))


def instructs(call: Call, text: str) -> bool:
    """Whether the instructions of a request have a text, in one block or message of them, or in several."""
    texts = _instructions(call)
    return any(text.strip() in border.join(texts) for border in ("\n", "", "\n\n"))


def _instructions(call: Call) -> list[str]:
    texts = [part.text for part in call.system if isinstance(part, m.Text)]
    return [*texts, *(message.text for message in call.messages if message.role == "system")]


def part_kinds(parts: Iterable[m.Part]) -> list[str]:
    """The order of text and calls: `["text", "call", "call"]`; neighbouring texts count once."""
    kinds: list[str] = []
    for part in parts:
        if isinstance(part, m.FunctionCall):
            kinds.append("call")
        elif isinstance(part, m.Text) and part.text.strip() and kinds[-1:] != ["text"]:
            kinds.append("text")
    return kinds


def matched_results(
    history: Iterable[m.Message], sent: Iterable[m.Message]
) -> Iterator[tuple[m.ToolResult, m.ToolResult]]:
    """The results of the session, each with its counterpart on the wire; ids may come again in later turns."""
    left: dict[str, list[m.ToolResult]] = {}
    for result in results_in(sent):
        left.setdefault(result.call_id, []).append(result)
    for result in results_in(history):
        if left.get(result.call_id):
            yield result, left[result.call_id].pop(0)


def matched_calls(
    history: Iterable[m.Message], sent: Iterable[m.Message]
) -> Iterator[tuple[m.FunctionCall, m.FunctionCall]]:
    """The calls of the session, each with its counterpart on the wire."""
    yield from pair_calls(calls_made(history), calls_made(sent))
