"""The words by which source tells of conversations: names of methods, of parameters and of what Python's types do."""

from __future__ import annotations

import re

from ...provider import LEGACY_METHODS

STATELESS_METHOD = "complete"

PROVIDER_METHODS = frozenset({*LEGACY_METHODS, STATELESS_METHOD})
"""What a provider is known by when it is called."""

OF_PROVIDERS_ALONE = frozenset({"create_session", "send_tool_results", "send_tool_results_streaming", STATELESS_METHOD})
"""Those of them that no session has: a session may well have a `send_message` and a `get_history` of its own."""

HISTORY_GETTERS = frozenset({"get_history", "history", "get_messages", "messages"})
"""Methods and properties whose result is the history, or a copy of it."""

HISTORY_NAMES = frozenset(
    {"history", "histories", "messages", "conversation", "conversations", "transcript", "turns", "contents", "chat"}
)
"""Names that suggest a history. A suggestion only: an attribute has to be used like one, too."""

SAID_PARAMETERS = frozenset({"message", "parts", "results", "content", "prompt", "text"})
"""Parameters of the sending methods that carry what is said."""

CONTENT_ATTRIBUTES = frozenset({"parts", "content", "text", "results"})
"""Attributes of a message that are what it says, rather than something about it."""

MUTATORS = frozenset(
    {
        "append",
        "appendleft",
        "add",
        "clear",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
)
"""Methods of lists, dicts, sets and deques that change them."""

GIVING = frozenset({"get", "pop", "popitem", "popleft", "setdefault", "values", "items", "__getitem__"})
"""Methods of containers that hand out what they hold."""

COPYING = frozenset(
    {
        "chain",
        "copy",
        "deepcopy",
        "deque",
        "dict",
        "enumerate",
        "filter",
        "from_iterable",
        "islice",
        "iter",
        "list",
        "reversed",
        "sorted",
        "takewhile",
        "tuple",
        "zip",
    }
)
"""Functions that give the same elements in another container."""

COUNTING = frozenset(
    {
        "all",
        "any",
        "bool",
        "callable",
        "dir",
        "format",
        "hash",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "max",
        "min",
        "print",
        "range",
        "ref",
        "repr",
        "str",
        "sum",
    }
)
"""Functions whose result holds nothing of what they are given."""

WEAK_TYPES = frozenset({"WeakKeyDictionary", "WeakSet", "WeakValueDictionary"})
"""What only remembers as long as somebody else does: a memo, not a history."""

_CHAIN_FIELDS = frozenset({"previous_response_id", "previous_interaction_id"})
_ASKS_RESPONSES = re.compile(r"(^|\.)responses\.(create|stream|parse|compact)$")
_CHATS = re.compile(r"(^|\.)(chats|conversations)\.create$|(^|\.)(start_chat|create_chat|ChatSession)$")
_MESSAGE = re.compile(r"(^|_|[a-z])(Message|Content|Turn)(Param)?$")
_MESSAGES = re.compile(
    r"\b(list|List|Sequence|MutableSequence|deque|Deque|tuple|Tuple)\[[^\]]*(Message|Content|Turn)\b"
)


def is_history_name(name: str) -> bool:
    """Whether a name, or its last word, suggests a history: `history`, `_messages`, `chat_history`."""
    return name.strip("_").lower().rpartition("_")[2] in HISTORY_NAMES


def is_provider_name(name: str) -> bool:
    """Whether something of this name is a provider: `provider`, `_provider`, `backup_provider`."""
    return name.strip("_").lower().rpartition("_")[2] == "provider"


def opens_chat(name: str) -> bool:
    """Whether a call, by its dotted name, gives an SDK's chat object, which keeps a history of its own."""
    return _CHATS.search(name) is not None


def names_kept_answer(field: str, call: str = "") -> bool:
    """Whether a member of a request, or an argument of the `call` with this dotted name, names what a service keeps:
    the answer that a conversation goes on from, or the conversation itself."""
    return field in _CHAIN_FIELDS or (field == "conversation" and _ASKS_RESPONSES.search(call) is not None)


def makes_message(dotted_name: str) -> bool:
    """Whether a call makes a message: of a class that is named like one, or by a method of it."""
    *before, last = dotted_name.split(".")
    return any(_MESSAGE.search(name) for name in (last, *before[-1:]))


def holds_messages(annotation: str) -> bool:
    """Whether an annotation is that of a list of messages."""
    return _MESSAGES.search(annotation) is not None
