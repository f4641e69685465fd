"""Writes a language model with made-up weights, a few megabytes, for a server that is real in everything else.

The model is a table: which token follows which. It babbles words that nobody wrote, ends its answers, calls the tools
that it is offered, and thinks where its template says so. The server takes it for any other model: it tokenizes,
caches prompts, counts, streams and forces the arguments of calls into their schemas.

How a table becomes a transformer: the embedding of each token is one-hot, attention and feed-forward add next to
nothing, and so the last hidden state is the last token; the output matrix then has a row of the table for each token.

`python -m tests.live.made_up_model FILE [--seed N] [--thinking]` writes one. It needs `gguf` and numpy.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

import gguf
import numpy as np

WIDTH = 512
"""Of the hidden state. Each token that is ever said needs a place of its own in it."""

HEAD = 32
CONTEXT = 32768
NOISE = 0.002

CONTROL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|plain|>", "<|offered|>", "<|answered|>")
"""The last three end a prompt and say what the model may do next: there are no tools, tools, or results of tools."""

MARKS = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>")
START, END, PAD, PLAIN, OFFERED, ANSWERED = CONTROL
CALL, CALL_END, THINK, THINK_END, *_ = MARKS

TEMPLATE = """{%- if tools %}<|im_start|>system
{%- if messages[0].role == 'system' %}
{{ messages[0].content }}
{%- endif %}
# Tools
You are provided with function signatures within <tools></tools> XML tags:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{%- elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}
<|im_start|>assistant
REASONING{{ message.content if message.content else '' }}
{%- for call in (message.tool_calls if message.tool_calls else []) %}
{%- set function = call.function if call.function else call %}
<tool_call>
{"name": "{{ function.name }}", "arguments": {{ function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{%- elif message.role == 'tool' %}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{%- elif message.role == 'user' or not loop.first %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
<|im_start|>assistant
{% if not tools %}<|plain|>{% elif messages[-1].role == 'tool' %}<|answered|>{% else %}<|offered|>{% endif %}
{%- endif %}"""

REASONING = """{%- if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}"""


def write_model(path: Path, *, seed: int = 0, thinking: bool = False) -> None:
    """Write the model. The same seed writes the same words and odds."""
    generator = random.Random(seed)
    words = _words(generator)
    tokens = [*CONTROL, *MARKS, *_bytes(), *(_printable(word) for word in words)]
    kinds = [gguf.TokenType.CONTROL] * len(CONTROL) + [gguf.TokenType.USER_DEFINED] * len(MARKS)
    kinds += [gguf.TokenType.NORMAL] * (len(tokens) - len(kinds))
    merges = list(_merges(words, tokens, kinds))
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("made-up")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(WIDTH // HEAD)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_count(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokens.index(END))
    writer.add_pad_token_id(tokens.index(PAD))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE.replace("REASONING", REASONING if thinking else ""))
    for name, values in _weights(tokens, words, seed, thinking=thinking).items():
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _words(generator: random.Random) -> list[str]:
    """Made-up words with the blank in front of them, some with letters beyond ASCII."""
    syllables = ["ba", "lo", "ki", "nu", "re", "sta", "mö", "té", "ça", "vi", "do", "шу", "ra", "pel", "gno"]
    found: dict[str, None] = {}
    while len(found) < 40:
        found[" " + "".join(generator.choices(syllables, k=generator.randint(1, 3)))] = None
    return list(found)


def _bytes() -> list[str]:
    """The 256 bytes as the tokenizer prints them."""
    return [_PRINTED[byte] for byte in range(256)]


def _printed() -> dict[int, str]:
    """GPT-2's table: printable bytes are themselves, the others get characters from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + n) for n, byte in enumerate(others)}}


_PRINTED = _printed()


def _printable(text: str) -> str:
    return "".join(_PRINTED[byte] for byte in text.encode())


def _merges(words: Iterable[str], tokens: list[str], kinds: list[gguf.TokenType]) -> Iterable[str]:
    """What makes each word one token, byte by byte from the left; beginnings of words become tokens that are read and
    never said."""
    known = set(tokens)
    seen: set[str] = set()
    for word in map(_printable, words):
        for end in range(1, len(word)):
            left, right = word[:end], word[end]
            if left + right not in known:
                known.add(left + right)
                tokens.append(left + right)
                kinds.append(gguf.TokenType.NORMAL)
            if f"{left} {right}" not in seen:
                seen.add(f"{left} {right}")
                yield f"{left} {right}"


def _weights(tokens: list[str], words: list[str], seed: int, *, thinking: bool) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    vocabulary_size = len(CONTROL) + len(MARKS) + 256 + len(words)
    assert vocabulary_size <= WIDTH
    embedding = generator.normal(0, NOISE, (len(tokens), WIDTH))
    for token in range(len(tokens)):
        embedding[token, token if token < vocabulary_size else int(generator.integers(vocabulary_size, WIDTH))] = 1.0
    table = _table(tokens[:vocabulary_size], words, generator, thinking=thinking)
    logits = np.log(table + 1e-6)
    logits -= logits.mean(axis=1, keepdims=True)
    # The norm makes a one-hot state as long as the square root of its width.
    output = np.full((len(tokens), WIDTH), -2.0 / np.sqrt(WIDTH))
    output[:vocabulary_size, :vocabulary_size] = logits.T / np.sqrt(WIDTH)
    output[:vocabulary_size, vocabulary_size:] = 0.0

    def small(*shape: int) -> np.ndarray:
        return generator.normal(0, NOISE, shape)

    return {
        "token_embd.weight": embedding,
        "output_norm.weight": np.ones(WIDTH),
        "output.weight": output,
        "blk.0.attn_norm.weight": np.ones(WIDTH),
        "blk.0.attn_q.weight": small(WIDTH, WIDTH),
        "blk.0.attn_k.weight": small(HEAD, WIDTH),
        "blk.0.attn_v.weight": small(HEAD, WIDTH),
        "blk.0.attn_output.weight": small(WIDTH, WIDTH),
        "blk.0.ffn_norm.weight": np.ones(WIDTH),
        "blk.0.ffn_gate.weight": small(64, WIDTH),
        "blk.0.ffn_up.weight": small(64, WIDTH),
        "blk.0.ffn_down.weight": small(WIDTH, 64),
    }


def _table(tokens: list[str], words: list[str], generator: np.random.Generator, *, thinking: bool) -> np.ndarray:
    """The odds of each next token, by the last one."""
    at = {token: place for place, token in enumerate(tokens)}
    table = np.zeros((len(tokens), len(tokens)))
    word_tokens = [at[_printable(word)] for word in words]
    # The first half of the words is said where tools are offered, and may lead to a call; the other half never does.
    offering, plain = word_tokens[: len(word_tokens) // 2], word_tokens[len(word_tokens) // 2 :]

    def row(token: int, odds: dict[int, float]) -> None:
        for following, share in odds.items():
            table[token, following] += share

    def among(group: list[int], share: float) -> dict[int, float]:
        shares = generator.random(len(group)) + 0.1
        return dict(zip(group, share * shares / shares.sum(), strict=True))

    newline, brace, quote = (at[_PRINTED[ord(char)]] for char in '\n{"')
    call = at[CALL]
    for mode, group, odds in ((PLAIN, plain, 0.0), (OFFERED, offering, 0.4), (ANSWERED, plain, 0.0)):
        row(at[mode], {at[THINK]: 0.97, **among(group, 0.03)} if thinking else {call: odds, **among(group, 1 - odds)})
    for word in plain:
        row(word, {at[END]: 0.08, **among(plain, 0.92)})
    for word in offering:
        row(word, {at[END]: 0.08, call: 0.12, at[THINK_END]: 0.05 * thinking, **among(offering, 0.8)})
    row(at[THINK], among(offering, 1.0))
    row(at[THINK_END], {newline: 0.5, **among(plain, 0.5)})
    row(call, {newline: 1.0})
    row(newline, {brace: 0.6, call: 0.05, at[CALL_END]: 0.4, **among(plain, 0.1)})
    row(at[CALL_END], {at[END]: 0.7, newline: 0.3})
    # Within arguments the server's grammar rules out what does not fit; what is left should soon come to an end.
    places = {char: at[_PRINTED[ord(char)]] for char in "abcdefghijklmnopqrstuvwxyz_0123456789]},:{[ -."}
    letters = [place for char, place in places.items() if char.isalnum()]
    closing = {places["]"]: 0.5, places["}"]: 0.5, places[","]: 0.15, places[":"]: 0.5}
    for token in (quote, *letters, *(places[char] for char in "],:{[ -._")):
        row(token, {quote: 0.6, **closing, places[" "]: 0.02, brace: 0.05, places["["]: 0.05, **among(letters, 0.4)})
    row(places["}"], {quote: 0.3, places["}"]: 0.2, places["]"]: 0.1, at[CALL_END]: 0.2, newline: 0.4})
    for token in range(len(tokens)):
        if not table[token].any():
            row(token, {at[END]: 0.3, **among(plain, 0.7)})
    smoothed: np.ndarray = table / table.sum(axis=1, keepdims=True)
    return smoothed


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Write a language model with made-up weights.")
    words.add_argument("file", type=Path)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--thinking", action="store_true")
    options = words.parse_args()
    write_model(options.file, seed=options.seed, thinking=options.thinking)
    print(f"{options.file}: {options.file.stat().st_size / 1e6:.1f} MB")
