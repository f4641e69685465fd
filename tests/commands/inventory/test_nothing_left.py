"""What is no history, however much it looks like one: a gate must not stay closed because of it."""

from __future__ import annotations

import pytest

from .kit import Take

STATELESS = {
    "arguments": """
        class Provider:
            def complete(self, messages, system=None, tools=None, *, on_chunk=None):
                history = list(messages)
                history.append(1)
                return self.client.post([dict(role=m.role, content=m.text) for m in history])
    """,
    "an-id-that-the-caller-gives": """
        class Provider:
            def complete(self, messages, system=None, tools=None, *, head=None):
                body = {"input": [m.text for m in messages], "previous_response_id": head}
                return self.client.post(body, conversation=self._log_name)
    """,
    "a-weak-memo": """
        from weakref import WeakKeyDictionary

        class Provider:
            def __init__(self):
                self._encoded = WeakKeyDictionary()

            def complete(self, messages, system=None, tools=None):
                for message in messages:
                    self._encoded[message] = encode(message)
                return post([self._encoded[message] for message in messages])
    """,
    "a-weak-memo-in-an-object": """
        import weakref

        class Encoder:
            def __init__(self):
                self._rows = weakref.WeakKeyDictionary()

            def encoded(self, messages):
                return [self._rows.setdefault(message, encode(message)) for message in messages]

        class Provider:
            def __init__(self):
                self._encoder = Encoder()

            def complete(self, messages, system=None, tools=None):
                return post(self._encoder.encoded(messages))
    """,
    "figures-of-the-last-call": """
        class Provider:
            def __init__(self):
                self._usage, self._calls, self._latencies = None, 0, []

            def complete(self, messages, system=None, tools=None):
                answer = post(messages)
                self._usage = answer.usage
                self._calls += 1
                self._latencies.append(answer.seconds)
                self._size = len(messages)
                return answer
    """,
    "an-object-that-lives-for-one-call": """
        class Request:
            def __init__(self):
                self.messages = []

            def add(self, message):
                self.messages.append(message)

        class Provider:
            def complete(self, messages, system=None, tools=None):
                request = Request()
                for message in messages:
                    request.add(message)
                return post(request.messages)
    """,
    "a-table-with-a-telling-name": """
        MESSAGES = {"user": 1, "model": 2}

        class Provider:
            keep_turns = 3
            max_messages = 100

            def complete(self, messages, system=None, tools=None):
                return post([MESSAGES[m.role] for m in messages[-self.max_messages :]])
    """,
    "serialisers": """
        import json

        class Provider:
            def serialize_history(self, history):
                return json.dumps(history)

            def deserialize_history(self, data):
                return json.loads(data)
    """,
    "names-of-tools": """
        class Provider:
            def complete(self, messages, system=None, tools=None):
                names = {call.name for message in messages for call in message.calls}
                self._names = frozenset(names)
                return post(messages)
    """,
    "an-sdk-that-completes": """
        class Provider:
            def complete(self, messages, system=None, tools=None):
                return self._client.complete(messages=messages)
    """,
}


@pytest.mark.parametrize("source", STATELESS.values(), ids=STATELESS)
def test_a_stateless_provider_has_nothing_left(source: str, take: Take) -> None:
    facts = take(source)
    assert facts.names == []
    assert facts.inventory.left == ()
    assert facts.inventory.problems == ()


STATEMENTS = {
    "the-last-conversation": "self._last = messages",
    "a-copy-of-it": "self._last = [*messages]",
    "its-new-part": "self._seen.extend(messages[self._count:])",
    "by-a-strong-memo": "self._memo[id(messages[-1])] = encode(messages[-1])",
    "one-message-at-a-time": "for message in messages: self._seen.append(message)",
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_stateless_provider_that_keeps_messages_is_found(statement: str, take: Take) -> None:
    facts = take(
        f"""
        class Provider:
            def __init__(self):
                self._seen, self._memo, self._last, self._count = [], {{}}, None, 0

            def complete(self, messages, system=None, tools=None):
                {statement}
                return post(messages)
        """
    )
    assert facts.lines("complete") == [statement]
    assert facts.inventory.left


def test_what_a_history_is_made_of_is_none_itself(take: Take) -> None:
    facts = take(
        """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Outcome:
            text: str

        @dataclass(frozen=True)
        class Note:
            who: str
            text: str = ""
            outcomes: tuple = ()

        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self._history = list(history or ())

            def send_message(self, text):
                self._history.append(Note("human", text))
                return [one.text for note in self._history for one in note.outcomes]

            def send_tool_results(self, outcomes):
                self._history.append(Note("tools", outcomes=tuple(map(Outcome, outcomes))))
        """
    )
    assert facts.places == {"_history"}


def test_a_list_that_only_its_name_makes_suspicious_is_no_history(take: Take) -> None:
    facts = take(
        """
        class Provider:
            def __init__(self, retries):
                self.retries = retries
                self.history = 3

            def complete(self, messages, system=None, tools=None):
                self.history += 1
                return post(messages)
        """
    )
    assert facts.names == []
