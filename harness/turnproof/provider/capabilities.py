"""What an adapter claims for a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from ..windows import Window


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an adapter claims for a model. Claimed but absent is a violation; unclaimed is reported as such.

    `opaque_thinking` is thinking that comes as blocks without readable text, encrypted or only signed; `service_tools`
    are searches, code and the like that the service runs by itself, whose parts go back as they came. `serialisers` are
    `serialize_history()` and `deserialize_history()`. `error_details` are the fields of an error beside its status and
    wait: `kind`, `partial`, and `limit` and `requested` of a prompt that is too long; `thinking_tokens` says that the
    usage tells how many tokens were thinking. `chain` says that the legacy path goes on from what the service has
    stored, by its id, and sends what is new; `websocket` that requests go over WebSockets, where the memory of one
    connection holds the chain; `chain_deletion` that such a path deletes at the service what its conversation left,
    where its policy says so (`turnproof.chains.ChainedProvider`). `background` says that calls can be answered in the
    background of the service (`turnproof.background_answers.BackgroundProvider`). `window` is how much of the
    conversation before the running turn a session or an agent sends at the most: `6 messages`, `6 items`, `3 turns`, or
    `none` for all of it. `wire` is no claim: it holds the traits of the wire API (`Dialect.traits`), which turnproof
    fills in.

    The fields from `usage` on (`ASSUMED`) are claimed unless they are set to False:

    usage:             the library reports token counts.
    early_usage:       with `streaming`: token counts are known while an answer streams, once the API has sent them.
                       Without it they come with the whole answer, and a cancelled call has none.
    finish_reasons:    a response says why the answer ended.
    finish_words:      a response has the API's own word for that. Without it there is the library's word alone.
    part_order:        parts and callbacks have the model's order of text and calls. Without it, return texts first.
    separate_thoughts: each thought of the model is a part; without it all thoughts may be one text.
    pair_repair:       with `tools`: a call without its result, or a result without its call, is mended or refused.
                       Without it a broken history goes out as it is, for the API to refuse.
    native_calls:      with `tools`: the calls and results of a conversation go out as such, and not as texts.
    image_urls:        with `images`: an image by reference (`FileRef`) stays a reference and is accepted.
    retries:           a session or an agent repeats a call that failed for a moment.
    result_cutting:    a session cuts tool results that do not fit into the context.
    given_texts:       a session or an agent sends what it was given in the user's name and as instructions, and no
                       texts of its own beside or around it. Without it, what it was given has still to be there, whole.
    chain_expiry:      with `chain`: what the path goes on from ends after a time. A conversation object does not.
    """

    streaming: bool = False
    tools: bool = False
    parallel_tools: bool = False
    thinking: bool = False
    opaque_thinking: bool = False
    structured: bool = False
    images: bool = False
    documents: bool = False
    result_images: bool = False
    service_tools: bool = False
    mid_system: bool = False
    cancel: bool = False
    cancel_batch: bool = False
    count_tokens: bool = False
    serialisers: bool = False
    typed_errors: bool = False
    error_details: bool = False
    thinking_tokens: bool = False
    lifecycle: bool = False
    cache: Literal["none", "explicit", "managed", "implicit"] = "none"
    chain: bool = False
    websocket: bool = False
    chain_deletion: bool = False
    background: bool = False
    window: str = "none"
    wire: frozenset[str] = frozenset()
    usage: bool = True
    early_usage: bool = True
    finish_reasons: bool = True
    finish_words: bool = True
    part_order: bool = True
    separate_thoughts: bool = True
    pair_repair: bool = True
    native_calls: bool = True
    image_urls: bool = True
    retries: bool = True
    result_cutting: bool = True
    given_texts: bool = True
    chain_expiry: bool = True

    def __post_init__(self) -> None:
        Window.of_claim(self.window)

    def claims(self, name: str) -> bool:
        """Whether the named capability is claimed; `cache:explicit` asks for that kind of cache, `wire:refusals`
        whether the wire API has that trait."""
        if ":" in name:
            key, _, kind = name.partition(":")
            found = getattr(self, key)
            return kind in found if isinstance(found, frozenset) else bool(found == kind)
        return getattr(self, name) not in (False, "none")


ASSUMED = tuple(one.name for one in fields(Capabilities) if one.default is True)
"""What is claimed unless a binding sets it to False."""
