"""Freedoms of errors: by which class, in which words, and with which cause."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from turnproof.errors import Cancelled, ProviderError
from turnproof.messages import ProviderResponse

from ..mutants import Broken, CallInputs, Proceed
from ._right import right


class _OtherErrors(Broken):
    """Raises another error in place of the adapter's; cancels stay."""

    @abstractmethod
    def other(self, error: ProviderError) -> ProviderError:
        """The error that is raised in place of this one."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            return super().call(inputs, proceed)
        except Cancelled:
            raise
        except ProviderError as error:
            other = self.other(error)
        # Behind the block: in it, the other error would have the adapter's as its context.
        raise other


@right("errors-of-own-classes")
class _ErrorsOfOwnClasses(_OtherErrors):
    """Failures are errors of the adapter's own classes, each below the one of the contract that fits."""

    def other(self, error: ProviderError) -> ProviderError:
        own: ProviderError = copy.copy(error)
        own.__class__ = type(f"Greenhouse{type(error).__name__}", (type(error),), {})
        own.__cause__ = error
        return own


@right("errors-in-own-words")
class _ErrorsInOwnWords(_OtherErrors):
    """An error's words begin with its class and the service's name; the service's own words follow."""

    def other(self, error: ProviderError) -> ProviderError:
        own: ProviderError = copy.copy(error)
        own.args = (f"{type(error).__name__}: GreenhouseException - {error}", *error.args[1:])
        own.__cause__ = error
        return own


@right("errors-without-cause")
class _ErrorsWithoutCause(_OtherErrors):
    """An error has no cause: what an SDK raised is not shown."""

    def other(self, error: ProviderError) -> ProviderError:
        own = copy.copy(error)
        # A package that pickles tracebacks has copies keep the cause, for the whole process.
        own.__cause__ = own.__context__ = None
        return own


@right("callback-errors-wrapped")
class _CallbackErrorsWrapped(Broken):
    """What a callback of the caller raises comes back as the cause of the library's own error."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        try:
            return super().call(inputs, proceed)
        except (Cancelled, ProviderError):
            raise
        except Exception as error:
            raise RuntimeError(f"Error in streaming response: {error}") from error


@right("callbacks-end-where-one-raised")
class _CallbacksEndWhereOneRaised(Broken):
    """A callback of the caller that raises is called no more, nor is any other one, and the answer is returned:
    callbacks are for a display, which must not cost the answer.
    """

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        has_raised = False

        def until_one_raises(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            def called(value: Any) -> None:
                nonlocal has_raised
                if has_raised:
                    return
                try:
                    callback(value)
                except Cancelled:
                    raise
                except Exception:
                    has_raised = True

            return called

        inputs = inputs.with_callback("on_chunk", until_one_raises)
        inputs = inputs.with_callback("on_usage", until_one_raises)
        inputs = inputs.with_callback("on_call", until_one_raises)
        return super().call(inputs.with_callback("on_thinking", until_one_raises), proceed)
