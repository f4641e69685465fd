"""Freedoms of what an adapter returns: what the API leaves open, or says in two places that do not agree."""

from __future__ import annotations

from msgspec.structs import replace as changed

from turnproof.messages import FinishReason, ProviderResponse, Thought

from ..mutants import Broken, CallInputs
from ._right import right


@right("finish-by-the-word", scenarios=("finish/reasons",), dialects=("openai-chat", "openai-responses"))
class _FinishByTheWord(Broken):
    """An answer whose finish word is that of an ordinary end has ended in the ordinary way, also where a field beside
    the word has a refusal: the text says what the model refused."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason is FinishReason.REFUSAL and response.raw_finish in {"stop", "completed"}:
            return changed(response, finish_reason=FinishReason.STOP)
        return response


@right("blank-thought-when-streamed", scenarios=("thinking/*",), capability=("thinking",))
class _BlankThoughtWhenStreamed(Broken):
    """A streamed answer ends with a thought that has no text: the library opened it, and nothing came."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None or not any(isinstance(part, Thought) for part in response.parts):
            return response
        return changed(response, parts=(*response.parts, Thought("")))
