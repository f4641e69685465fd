"""Phrases in the words of findings that several requirements share."""

from __future__ import annotations

ERROR_AND_MESSAGE = "`{observed:words}` with the message {message}"
"""Of an error that was raised; `FindingCode.of_error` gives both values."""

EXCEPTION = "the exception {error:words}: {observed:words}"
"""Of an exception, where it is its message that was observed."""

SENT_TEXTS = "messages with the texts {observed}"
"""Of a request."""

AMONG_THE_MESSAGES = "{expected} among the messages"
IN_ORDER_AMONG_THE_MESSAGES = "{expected} among the messages, in the order of the conversation"
"""Of a text that a request should have."""

OUTCOME_AND_FAILURE = "{observed}{failure:words}"
"""Of how a turn ended; `failure` is empty or says why."""
