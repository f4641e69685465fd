"""What one event of a cancelled stream holds is used up to the cancel, and no further."""

from __future__ import annotations

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text

from ..callback_recorder import CallbackRecorder
from ..scripted_server import Exchange, scripted
from .kit import MODEL, answer, call, chunk, stateless, text

HI = [Message.user("hi")]


def test_nothing_more_of_a_chunk_is_said_after_a_callback_has_cancelled() -> None:
    token, recorder = CancelToken(), CallbackRecorder()

    def cancel(piece: str) -> None:
        recorder.events.append(("text", piece))
        token.cancel()

    events = [chunk(text("a"), text("b"), call("rm", {}, "1"), finish="STOP")]
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = stateless(server.url).complete(HI, cancel_token=token, **{**recorder.callbacks, "on_chunk": cancel})
    assert recorder.events == [("text", "a")]
    assert response.parts == (Text("a"),)
    assert response.model == MODEL


def test_an_answer_to_a_cancelled_turn_that_cannot_be_read_is_a_cancelled_turn() -> None:
    token = CancelToken()

    def script(exchange: Exchange) -> None:
        token._event.set()
        exchange.answer(answer(finish="MALFORMED_FUNCTION_CALL"))

    with scripted(script) as server:
        response = stateless(server.url).complete(HI, cancel_token=token)
    assert response == ProviderResponse(finish_reason=FinishReason.CANCELLED)
