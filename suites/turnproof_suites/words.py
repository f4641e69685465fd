"""Words, wherever they stand: one relation for "this text is said there".

A text may go out in one block or in several, joined with its neighbours, with blank blocks dropped and other white
space around it: on every wire that means the same. So texts are looked up without their blanks and without the borders
of blocks and messages. What differs in blanks alone is for `core/wire-is-what-the-session-holds` to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from turnproof.messages import JSON, Message, Text

__all__ = [
    "strings_in",
    "times_users_say",
    "times_users_say_without_notes",
    "user_words",
    "users_say",
    "without_blanks",
]


def without_blanks(texts: Iterable[str]) -> str:
    """Texts as one, without blanks: where they are cut and how they are joined says nothing."""
    return "".join("".join(text.split()) for text in texts)


def user_words(messages: Iterable[Message]) -> str:
    """Everything that users say in some messages, without blanks."""
    return without_blanks(
        part.text for message in messages if message.role == "user" for part in message.parts if isinstance(part, Text)
    )


def users_say(messages: Iterable[Message], text: str) -> bool:
    """Whether users say this text in some messages. A blank text is always said."""
    return without_blanks([text]) in user_words(messages)


def times_users_say(messages: Iterable[Message], text: str) -> int:
    """How often users say a text that is not blank."""
    return user_words(messages).count(without_blanks([text]))


def times_users_say_without_notes(messages: Iterable[Message], text: str, session_words: str) -> int:
    """How often users say a text, without what stands in words that are the adapter's own.

    A text of a request whose words are not among the session's (`user_words` of it) is the adapter's own, such as a
    note beside an image: a short text may stand within its words by chance, and counts there only as words apart.
    """
    once = re.compile(r"\s+".join(map(re.escape, text.split())))
    apart = re.compile(rf"(?<!\w)(?:{once.pattern}\s*)+(?!\w)")  # what is said again at once is said twice
    texts = [part.text for one in messages if one.role == "user" for part in one.parts if isinstance(part, Text)]
    is_own = {each: without_blanks([each]) not in session_words for each in texts}
    of_session = without_blanks(each for each in texts if not is_own[each])
    return of_session.count(without_blanks([text])) + sum(
        len(once.findall(found[0])) for each in texts if is_own[each] for found in apart.finditer(each)
    )


def strings_in(value: JSON) -> Iterator[str]:
    """Every text in a value: some APIs take nothing but objects where a text is meant."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from (text for inner in value.values() for text in strings_in(inner))
        case list() | tuple():
            yield from (text for inner in value for text in strings_in(inner))
