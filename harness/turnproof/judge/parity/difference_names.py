"""The names that differences between two runs have. A name is stable: bindings and settings declare by it.

The list is ordered and the first kind that covers a difference names it; the last ones of each aspect cover what no
other does, so that everything has a name. Those say little, and declaring one excuses much: a more telling kind is
the better answer to a difference that comes up again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...errors import CatalogueError
from . import classify
from .difference_case import Case
from .model import Aspect


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of difference. `form` says that both sides mean the same and only write it differently."""

    name: str
    title: str
    aspects: tuple[Aspect, ...]
    covers: Callable[[Case], bool]
    form: bool = False


KINDS: Sequence[Kind] = (
    # -- who keeps the conversation, and what follows from it
    Kind("kept-by-the-service", "One side has answers kept, names one for what the other sends, and asks for them",
         ("wire", "requests"), classify.is_kept_by_the_service, form=True),
    # -- calls that only one side makes, or that only one side gets through
    Kind("retried-elsewhere", "What one side tries again within a call, the other leaves to its session",
         ("wire", "answers", "callbacks", "usage", "errors", "outcome"), classify.is_retried_elsewhere),
    Kind("more-requests", "One side makes calls or sends requests that the other does not",
         ("wire", "answers", "callbacks", "usage", "errors", "requests"), classify.is_extra),
    Kind("only-one-fails", "One side raises where the other returns", ("answers", "callbacks", "usage", "errors"),
         classify.fails_alone),
    # -- what may show in requests, in what is returned, and in histories
    Kind("ids-made-up", "One side has its own ids, or none, for calls that have ids of the service",
         ("wire", "answers", "callbacks", "history"), classify.has_made_up_id),
    Kind("field-spelling", "A field goes by another spelling of its name, which the API takes as well", ("wire",),
         classify.is_spelling, form=True),
    Kind("base64-alphabet", "The same bytes in the other of the two alphabets of base64", ("wire",),
         classify.is_base64_alphabet, form=True),
    Kind("foreign-history", "What another service issued, or an instruction between turns, is kept in another form",
         ("history",), classify.is_foreign),
    Kind("signatures-missing", "A signature or sealed content is there on one side only, or changed",
         ("wire", "answers", "history"), classify.is_seal),
    Kind("blank-text", "Blank text is kept on one side and left out on the other",
         ("wire", "answers", "history"), classify.is_blank_text, form=True),
    Kind("contents-split-per-chunk", "What is one message or part on one side is several on the other",
         ("wire", "answers", "history"), classify.is_split, form=True),
    Kind("thoughts-missing", "A thought is on one side only", ("wire", "answers", "history"), classify.is_thought),
    Kind("cancelled-turn-dropped", "The text of a cancelled turn is kept on one side only", ("wire", "history"),
         classify.is_dropped_with_the_cancel),
    Kind("error-flag", "A failed tool is marked as failed on one side only", ("wire", "history"),
         classify.is_error_flag),
    # -- requests
    Kind("empty-fields", "An empty field is written on one side", ("wire",),
         classify.is_empty_field, form=True),
    Kind("stream-flag", "One side asks for a stream and the other does not", ("wire",),
         classify.below_path(r"\$\.request\.body\.stream$"), form=True),
    Kind("cache-marks", "Prefix breakpoints are in other places, or on one side only", ("wire",),
         classify.is_cache_mark, form=True),
    Kind("managed-cache", "One side names a managed cache for what the other sends", ("wire",),
         classify.is_managed_cache, form=True),
    Kind("tool-order", "The same tools in another order", ("wire",), classify.has_tools_in_another_order, form=True),
    Kind("request-form", "The same conversation, written in another form", ("wire",),
         classify.is_other_form, form=True),
    Kind("system-missing", "The system text is sent on one side only", ("wire",), classify.lacks_system),
    Kind("tools-missing", "Tools are declared on one side only", ("wire",), classify.lacks_tools),
    Kind("request-headers", "A header that changes nothing about the request differs", ("wire",),
         classify.is_quiet_header, form=True),
    Kind("request-address", "Method, address or a header of the request differs", ("wire",),
         classify.below_path(r"\$\.request\.(method|path|headers)")),
    Kind("request-settings", "A setting outside the conversation differs", ("wire",), classify.is_setting),
    Kind("responses-cut", "The exchange ended differently: one side closed it, or read on", ("wire",),
         classify.below_path(r"\$\.response\.ended")),
    Kind("responses-differ", "The service answered differently", ("wire",), classify.below_path(r"\$\.response")),
    Kind("requests-differ", "The requests differ", ("wire",), classify.anything),
    # -- callbacks and figures
    Kind("pieces-cut-otherwise", "The same text comes in other pieces", ("callbacks",),
         classify.below_path(r"\$\.pieces"), form=True),
    Kind("stream-usage-late", "Streamed usage comes later, less often, or not at all", ("callbacks", "usage"),
         classify.has_late_usage),
    Kind("callbacks-at-the-end", "One side calls back something only behind all the rest", ("callbacks",),
         classify.comes_at_the_end),
    Kind("callbacks-out-of-order", "The same callbacks in another order", ("callbacks",), classify.is_reordered),
    # -- histories and errors
    Kind("history-kept-by-the-sdk", "The provider's own history, kept by its SDK, is in another form", ("history",),
         classify.is_kept_by_the_provider),
    Kind("error-words", "The same error in other words", ("errors",), classify.below_path(r"\$\.message"), form=True),
    # -- what has no telling name
    Kind("answers-differ", "The calls return different responses", ("answers",), classify.anything),
    Kind("callbacks-differ", "Different things are called back", ("callbacks",), classify.anything),
    Kind("histories-differ", "The histories differ", ("history",), classify.anything),
    Kind("usage-differs", "The figures differ from the wire, and from each other", ("usage",), classify.anything),
    Kind("errors-differ", "The errors raised differ", ("errors",), classify.anything),
    Kind("outcomes-differ", "A turn ends differently for its user", ("outcome",), classify.anything),
)  # fmt: skip

KIND_NAMES: tuple[str, ...] = tuple(kind.name for kind in KINDS)
"""All names, in order."""

_BY_NAME = {kind.name: kind for kind in KINDS}


def kind(name: str) -> Kind:
    """The kind of that name. Raises CatalogueError when there is none."""
    if name not in _BY_NAME:
        raise CatalogueError(f"no kind of difference is named {name!r}")
    return _BY_NAME[name]


def kind_of(case: Case) -> Kind:
    """The first kind that covers a difference."""
    return next(kind for kind in KINDS if case.aspect in kind.aspects and kind.covers(case))
