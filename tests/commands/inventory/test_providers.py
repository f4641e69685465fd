"""What providers keep, in the ways in which people write it."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import pytest

from .kit import Take


@dataclass(frozen=True)
class Case:
    """A class `Provider`; the places that hold history in it, and what some of its methods do."""

    id: str
    source: str
    places: set[str]
    does: dict[str, set[str]]


CASES = [
    Case(
        "a-list-of-its-own",
        """
        class Provider:
            def __init__(self, client):
                self.client = client
                self._history = []

            def create_session(self, system=None, tools=None, history=None):
                self._system, self._tools = system, tools
                self._history = list(history or [])

            def get_history(self):
                return list(self._history)

            def send_message(self, message):
                self._history.append({"role": "user", "content": message})
                answer = self.client.post(self._history, self._system)
                self._history.append(answer)
                return answer
        """,
        {"_history"},
        {
            "__init__": {"writes _history"},
            "create_session": {"writes _history"},
            "get_history": {"reads _history"},
            "send_message": {"writes _history", "reads _history"},
        },
    ),
    Case(
        "an-id-of-what-the-service-keeps",
        """
        class Provider:
            def __init__(self, client):
                self.client = client
                self._last = None

            def send_message(self, message):
                answer = self.client.responses.create(input=message, previous_response_id=self._last)
                self._last = answer.id
                return answer
        """,
        {"_last"},
        {"__init__": {"writes _last"}, "send_message": {"reads _last", "writes _last"}},
    ),
    Case(
        "such-an-id-in-a-body",
        """
        class Provider:
            def send_message(self, message):
                body = {"input": message}
                if self._last is not None:
                    body["previous_interaction_id"] = self._last
                self._last = self.http.post("/v1/interactions", json=body)["id"]

            def close(self):
                self._last = None
        """,
        {"_last"},
        {"send_message": {"reads _last", "writes _last"}, "close": {"writes _last"}},
    ),
    Case(
        "such-an-id-in-an-object",
        """
        class Head:
            def __init__(self, id, model):
                self.id, self.model = id, model

        class Provider:
            def _request(self, message):
                chained = {"previous_response_id": self._head.id} if self._head else {}
                return {"input": message, **chained}

            def send_message(self, message):
                answer = self.http.post("/v1/responses", json=self._request(message))
                self._head = Head(answer["id"], answer["model"])
        """,
        {"_head", "Head.id"},
        {"_request": {"reads Head.id"}},
    ),
    Case(
        "a-conversation-at-the-service",
        """
        class Provider:
            def open(self, conversation):
                self._at = conversation

            def send_message(self, message):
                return self.client.responses.create(input=message, conversation=self._at)
        """,
        {"_at"},
        {"open": {"writes _at"}, "send_message": {"reads _at"}},
    ),
    Case(
        "a-conversation-that-was-opened-there",
        """
        class Provider:
            _at = None

            def end(self):
                self._at = None

            def _chained(self, client):
                if self._at is None:
                    self._at = client.conversations.create(timeout=5).id
                return {"conversation": self._at}

            def send_message(self, message):
                return self.client.responses.create(input=message, **self._chained(self.client))
        """,
        {"_at"},
        {"end": {"writes _at"}, "_chained": {"reads _at", "writes _at"}},
    ),
    Case(
        "by-another-name",
        """
        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self.log = [*history] if history else []

            def get_history(self):
                return self.log[:]

            def send_message(self, message):
                self.log += [message]
        """,
        {"log"},
        {"create_session": {"writes log"}, "get_history": {"reads log"}, "send_message": {"writes log"}},
    ),
    Case(
        "through-an-alias",
        """
        class Provider:
            def __init__(self):
                self._history = []

            def send_message(self, message):
                h = self._history
                h.append(message)
                del h[0]
                h[-1] = message
        """,
        {"_history"},
        {"send_message": {"reads _history", "writes _history"}},
    ),
    Case(
        "through-helpers",
        """
        def push(items, item):
            items.append(item)


        class Provider:
            def __init__(self):
                self._said = []

            def send_message(self, message):
                return self._answer(message)

            def _answer(self, text):
                push(self._said, text)
        """,
        {"_said"},
        {
            "send_message": {"writes _said via _answer()", "reads _said via _answer()"},
            "_answer": {"reads _said"},
            "push": {"writes _said"},
        },
    ),
    Case(
        "by-its-name-as-text",
        """
        class Provider:
            def __init__(self):
                setattr(self, "_history", [])

            def send_message(self, message):
                getattr(self, "_history").append(message)

            def get_history(self):
                return list(getattr(self, "_history", ()))
        """,
        {"_history"},
        {
            "__init__": {"writes _history"},
            "get_history": {"reads _history"},
            "send_message": {"writes _history", "reads _history"},
        },
    ),
    Case(
        "in-a-nested-function",
        """
        class Provider:
            def __init__(self):
                self._kept = []

            def send_message(self, message):
                def record(item):
                    self._kept.append(item)

                record(message)
                return retry(lambda: post(self._kept))
        """,
        {"_kept"},
        {"send_message": {"writes _kept", "reads _kept"}},
    ),
    Case(
        "behind-a-property",
        """
        class Provider:
            _past = None

            @property
            def history(self):
                return self._past

            @history.setter
            def history(self, messages):
                self._past = messages

            def create_session(self, system=None, tools=None, history=None):
                self.history = list(history or ())

            def send_message(self, message):
                self.history = [*self.history, message]
        """,
        {"_past"},
        {"create_session": {"writes _past via history()"}},
    ),
    Case(
        "a-dataclass-field",
        """
        from dataclasses import dataclass, field


        @dataclass
        class Provider:
            key: str
            messages: list = field(default_factory=list)

            def send_message(self, message):
                self.messages.append(message)

            def get_history(self):
                return self.messages.copy()
        """,
        {"messages"},
        {"send_message": {"writes messages"}, "get_history": {"reads messages"}},
    ),
    Case(
        "an-attribute-of-the-class",
        """
        class Provider:
            _all = []

            def send_message(self, message):
                Provider._all.append(message)

            def get_history(self):
                return [one for one in type(self)._all]
        """,
        {"_all"},
        {"send_message": {"writes _all"}, "get_history": {"reads _all"}},
    ),
    Case(
        "a-tuple-that-is-replaced",
        """
        class Provider:
            def __init__(self):
                self._history = ()

            def send_message(self, message):
                self._history = self._history + (message,)

            def get_history(self):
                return list(self._history)
        """,
        {"_history"},
        {"send_message": {"writes _history", "reads _history"}},
    ),
    Case(
        "another-form-of-it",
        """
        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self._contents = [to_content(message) for message in history or ()]

            def get_history(self):
                return from_contents(self._contents)

            def send_message(self, message):
                contents = [*self._contents, to_content(message)]
                answer = post(contents)
                self._contents = contents + [answer]
        """,
        {"_contents"},
        {
            "create_session": {"writes _contents"},
            "get_history": {"reads _contents"},
            "send_message": {"reads _contents", "writes _contents"},
        },
    ),
    Case(
        "a-shadow-copy",
        """
        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self._history = list(history or ())
                self._shadow = list(self._history)

            def rewind(self):
                self._history = self._shadow
        """,
        {"_history", "_shadow"},
        {"rewind": {"reads _shadow", "writes _history"}},
    ),
    Case(
        "an-sdk-chat",
        """
        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self._session = self.client.chats.create(model="m", history=to_sdk(history))

            def send_message(self, message):
                return self._session.send_message(message)

            def get_history(self):
                return [from_sdk(one) for one in self._session.get_history()]
        """,
        {"_session"},
        {
            "create_session": {"writes _session"},
            "send_message": {"reads _session", "writes _session"},
            "get_history": {"reads _session"},
        },
    ),
    Case(
        "an-older-sdk-chat",
        """
        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                self._talk = self.model.start_chat()

            def send_message_streaming(self, message, on_chunk):
                talk = self._talk
                for piece in talk.send_message(message, stream=True):
                    on_chunk(piece)
        """,
        {"_talk"},
        {"send_message_streaming": {"reads _talk", "writes _talk"}},
    ),
    Case(
        "an-object-that-keeps-it",
        """
        class Store:
            def __init__(self):
                self.entries = []

            def record(self, entry):
                self.entries.append(entry)

            def everything(self):
                return list(self.entries)


        class Provider:
            def __init__(self):
                self._store = Store()

            def send_message(self, message):
                self._store.record(message)

            def get_history(self):
                return self._store.everything()
        """,
        {"Store.entries", "_store"},
        {
            "record": {"writes Store.entries"},
            "everything": {"reads Store.entries"},
            "__init__": {"writes Store.entries"},
            "send_message": {"writes Store.entries via record()"},
            "get_history": {"reads Store.entries via everything()"},
        },
    ),
    Case(
        "an-object-that-nobody-knows",
        """
        from types import SimpleNamespace


        class Provider:
            def __init__(self):
                self._state = SimpleNamespace(messages=[])

            def send_message(self, message):
                self._state.messages.append(message)

            def get_history(self):
                return list(self._state.messages)
        """,
        {"_state.messages"},
        {"send_message": {"writes _state.messages"}, "get_history": {"reads _state.messages"}},
    ),
    Case(
        "inherited",
        """
        class Base:
            def __init__(self):
                super().__init__()
                self.create_session()

            def create_session(self, system=None, tools=None, history=None):
                self._history = list(history or ())

            def send_message(self, message):
                return self._turn(message)


        class Provider(Base):
            def create_session(self, system=None, tools=None, history=None):
                super().create_session(system, tools, history)
                self._extra = 1

            def _turn(self, message):
                self._history.append(message)
        """,
        {"_history"},
        {
            "__init__": {"writes _history via create_session()"},
            "send_message": {"writes _history via _turn()"},
            "_turn": {"writes _history"},
        },
    ),
    Case(
        "in-every-kind-of-statement",
        """
        class Provider:
            async def send_message(self, message, history=None):
                with self.lock:
                    try:
                        self._turns.insert(0, message)
                    except ValueError as error:
                        self._turns.clear()
                    finally:
                        self._turns.reverse()
                match message:
                    case "x" if self._turns:
                        self._turns.pop()
                while True:
                    async for piece in await self.open(self._turns):
                        self._turns[0] += piece
                return {**{"messages": self._turns}}

            def create_session(self, system=None, tools=None, history=None):
                self._turns = history if history else []
        """,
        {"_turns"},
        {"send_message": {"reads _turns", "writes _turns"}, "create_session": {"writes _turns"}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_history_is_found_however_it_is_kept(case: Case, take: Take) -> None:
    facts = take(case.source)
    assert facts.places == case.places
    for method, does in case.does.items():
        assert facts.does(method) == does, method
    assert facts.inventory.left
    assert not facts.inventory.problems


def test_a_history_in_a_module_is_found_where_it_is_kept(take: Take) -> None:
    facts = take(
        """
        from kept_elsewhere import HISTORIES

        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                HISTORIES[id(self)] = list(history or ())

            def send_message(self, message):
                HISTORIES[id(self)].append(message)

            def get_history(self):
                return HISTORIES.get(id(self), [])

            def shutdown(self):
                HISTORIES.pop(id(self), None)
        """,
        kept_elsewhere="HISTORIES = {}",
    )
    assert facts.places == {"kept_elsewhere.HISTORIES"}
    assert facts.does("shutdown") == {"writes kept_elsewhere.HISTORIES"}
    assert facts.does("get_history") == {"reads kept_elsewhere.HISTORIES"}


def test_a_global_that_functions_bind_anew_is_found(take: Take) -> None:
    facts = take(
        """
        _conversation = None

        class Provider:
            def create_session(self, system=None, tools=None, history=None):
                global _conversation
                _conversation = list(history or ())

            def get_history(self):
                return _conversation
        """
    )
    (place,) = facts.places
    assert place.endswith("._conversation")
    assert facts.does("create_session") == {f"writes {place}"}
    assert facts.does("get_history") == {f"reads {place}"}


def test_each_touch_has_its_line_and_its_source(take: Take) -> None:
    facts = take(
        """
        class Provider:
            def send_message(self, message):
                self._history.append(
                    message
                )
        """
    )
    (touch,) = facts.of("send_message").touches
    assert (touch.line, touch.source) == (4, "self._history.append(")
    assert facts.of("send_message").line == 3
    assert facts.of("send_message").owner == "Provider"
    assert facts.of("send_message").file == facts.inventory.file
