"""Freedoms of what an adapter returns: what the API leaves open, or says in two places that do not agree."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace as changed

from turnproof.messages import FinishReason, Message, Part, ProviderResponse, Text, Thought

from ..mutants import Broken, CallInputs
from ._right import right


@right("finish-by-the-word")
class _FinishByTheWord(Broken):
    """An answer whose finish word is that of an ordinary end has ended in the ordinary way, also where a field beside
    the word has a refusal: the text says what the model refused."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason is FinishReason.REFUSAL and response.raw_finish in {"stop", "completed"}:
            return changed(response, finish_reason=FinishReason.STOP)
        return response


@right("blank-thought-when-streamed")
class _BlankThoughtWhenStreamed(Broken):
    """A streamed answer ends with a thought that has no text: the library opened it, and nothing came."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None or not any(isinstance(part, Thought) for part in response.parts):
            return response
        return changed(response, parts=(*response.parts, Thought("")))


@right("thoughts-as-they-streamed")
class _ThoughtsAsTheyStreamed(Broken):
    """Each piece of a streamed thought that has no signature is a thought, with a note of the library: the API has no
    border between them."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None:
            return response
        return changed(response, parts=tuple(map(self._with_note, _halved(response.parts, Thought))))

    def _with_note(self, part: Part) -> Part:
        if isinstance(part, Thought) and part.provider_data is not None and not part.provider_data.data:
            return changed(part, provider_data=changed(part.provider_data, data={"thought": True}))
        return part


@right("answer-in-two-texts")
class _AnswerInTwoTexts(Broken):
    """A text of an answer is two parts: together they are the text, and so is what goes back."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return changed(response, parts=tuple(_halved(response.parts, Text)))


def _halved(parts: tuple[Part, ...], kind: type[Text] | type[Thought]) -> Iterator[Part]:
    for part in parts:
        border = part.text.find(" ", len(part.text) // 2) if isinstance(part, kind) else -1
        # A part that carries something for the service stays whole.
        plain = isinstance(part, kind) and (part.provider_data is None or not part.provider_data.data)
        if isinstance(part, kind) and plain and 0 < border < len(part.text) - 1:
            yield changed(part, text=part.text[:border])
            yield changed(part, text=part.text[border:])
        else:
            yield part


@right("calls-behind-a-blank-text")
class _CallsBehindABlankText(Broken):
    """An answer with calls and no text has an empty text in front, as a library has one whose messages always hold a
    text. It is left out of what goes back."""

    def change_message(self, message: Message) -> Message:
        if message.role != "model" or Text("") not in message.parts:
            return message
        return changed(message, parts=tuple(part for part in message.parts if part != Text("")))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.calls and not response.text:
            return changed(response, parts=(Text(""), *response.parts))
        return response


@right("texts-joined-with-a-blank")
class _TextsJoinedWithABlank(Broken):
    """Texts that follow each other in an answer in one piece are one text with a blank between them."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts: list[Part] = []
        for part in response.parts if inputs.on_chunk is None else ():
            before = parts[-1] if parts else None
            if isinstance(part, Text) and isinstance(before, Text) and before.provider_data is None:
                parts[-1] = changed(before, text=f"{before.text} {part.text}")
            else:
                parts.append(part)
        return changed(response, parts=tuple(parts)) if parts else response
