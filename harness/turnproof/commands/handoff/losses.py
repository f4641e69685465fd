"""What of a conversation does not reach a model that did not hold it: the history against the first request.

Whether a loss is right is for the checks to say (text, calls and results may never be lost). This is the list that a
person wants to see before a conversation is handed over: thinking that only its own provider can read, parts that the
other API has no place for, ids and names that had to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import messages as m
from ...dialects.atoms import Atom, atoms, media_key
from ...dialects.base import Call
from ...dialects.pictures import with_held_pictures
from ...report.handoff import Fate, Loss

_SHOWN = 60


class Arrival:
    """A history, and the request that it went out with. `body` is the request's text, `issuer` and `model` say whose
    provider data counts as the receiver's own."""

    def __init__(self, history: Sequence[m.Message], call: Call, body: str, issuer: str, model: str) -> None:
        self._atoms = atoms(history, root="$.messages")
        self._sent = atoms(with_held_pictures(call.messages, history), root="$.sent")
        self._body = body
        # Beside the text itself: an API may take one signature in several spellings.
        self._words = {
            word for atom in self._sent if (data := atom.part.provider_data) for word in _provider_texts(data)
        }
        self._issuer = issuer
        self._model = model
        self._sent_text = "\n".join(atom.text for atom in self._sent if atom.kind == "text")
        self._above = "\n".join(part.text for part in call.system if isinstance(part, m.Text))

    def losses(self) -> tuple[Loss, ...]:
        """Everything that did not arrive as it was, in the order of the history."""
        return tuple(self._losses())

    def signed(self) -> tuple[int, int]:
        """Parts with provider data of the receiver's own, and how many of them came back whole."""
        own = [data for atom in self._atoms if (data := atom.part.provider_data) is not None and self._is_own(data)]
        return len(own), sum(self._is_back(data) for data in own)

    def _losses(self) -> Iterator[Loss]:
        calls = [atom.part for atom in self._sent if isinstance(atom.part, m.FunctionCall)]
        results = [atom.part for atom in self._sent if isinstance(atom.part, m.ToolResult)]
        for atom in self._atoms:
            match atom.part:
                case m.FunctionCall() as call:
                    if not calls:
                        yield self._loss(atom, "left-out")
                    elif (call.id, call.name) != ((twin := calls.pop(0)).id, twin.name):
                        yield self._loss(atom, "renamed")
                case m.ToolResult() as result:
                    answer = results.pop(0) if results else None
                    if answer is None:
                        yield self._loss(atom, "left-out")
                    else:
                        yield from self._attached(atom, result)
                        if result.is_error and not answer.is_error:
                            yield self._loss(atom, "told")
                case m.Text(text=text):
                    if text.strip() and text.strip() not in self._sent_text and text.strip() not in self._above:
                        yield self._loss(atom, "left-out")
                case m.Thought() as thought:
                    if fate := self._fate_of(thought):
                        yield self._loss(atom, fate)
                    continue
                case m.ExecutableCode(code=words) | m.CodeExecutionResult(output=words):
                    if not self._has_arrived(atom):
                        yield self._loss(atom, "told" if words and words in self._sent_text else "left-out")
                case m.InlineData() | m.FileRef() | m.Opaque():
                    if not self._has_arrived(atom):
                        yield self._loss(atom, "left-out")
                        continue
            data = atom.part.provider_data
            if data is not None and not self._is_back(data):
                yield self._loss(atom, "unsigned")

    def _fate_of(self, thought: m.Thought) -> Fate | None:
        data = thought.provider_data
        back = data is not None and self._is_back(data)
        thoughts = [atom for atom in self._sent if atom.kind == "thought"]
        if any(atom.text == thought.text != "" for atom in thoughts) or (back and not thought.text):
            return None if data is None or back else "unsigned"
        joined = "".join(atom.text for atom in thoughts)
        if thought.text and thought.text in joined:
            return None if data is None or back else "unsigned"
        return "told" if thought.text and thought.text in self._sent_text else "left-out"

    def _attached(self, atom: Atom, result: m.ToolResult) -> Iterator[Loss]:
        media = {media_key(each.part) for each in self._sent if isinstance(each.part, m.InlineData | m.FileRef)}
        for each in self._sent:
            if isinstance(each.part, m.ToolResult):
                media |= {media_key(item) for item in each.part.attachments}
        if any(media_key(item) not in media for item in result.attachments):
            yield self._loss(atom, "left-out")

    def _has_arrived(self, atom: Atom) -> bool:
        return any(other.key == atom.key for other in self._sent)

    def _is_own(self, data: m.ProviderData) -> bool:
        return (
            data.dialect == self._issuer and bool(list(_provider_texts(data))) and _same_model(data.model, self._model)
        )

    def _is_back(self, data: m.ProviderData) -> bool:
        return all(word in self._body or word in self._words for word in _provider_texts(data))

    def _loss(self, atom: Atom, fate: Fate) -> Loss:
        data, opaque = atom.part.provider_data, getattr(atom.part, "dialect", None)
        issuer = data.dialect if data is not None else opaque
        own = (data is not None and self._is_own(data)) or opaque == self._issuer
        return Loss(fate, type(atom.part).__name__, atom.path, _atom_text(atom), issuer, own)


def _provider_texts(data: m.ProviderData) -> Iterator[str]:
    """What of provider data can be looked for in a request."""
    return (value for value in data.data.values() if isinstance(value, str) and value)


def _same_model(issued_by: str | None, model: str) -> bool:
    """Whether an answer's model is the one that is asked now; answers may name a dated form of it."""
    return issued_by is None or issued_by.startswith(model) or model.startswith(issued_by)


def _atom_text(atom: Atom) -> str:
    match atom.part:
        case m.FunctionCall(id=call_id, name=name):
            text = f"{name} ({call_id})"
        case m.ToolResult(call_id=call_id, name=name):
            text = f"{name} ({call_id})"
        case m.Text(text=words) | m.Thought(text=words):
            text = words
        case part:
            text = str(m.to_builtins(part))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
