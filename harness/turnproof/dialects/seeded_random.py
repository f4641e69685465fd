"""What a real service draws at random, drawn from a seed instead: equal requests get equal bytes."""

from __future__ import annotations

from hashlib import blake2b

HEX = "0123456789abcdef"


def seeded_number(seed: str, *labels: object) -> int:
    """A number of 160 bits that depends on the seed and the labels alone."""
    named = "\0".join([seed, *map(str, labels)])
    return int.from_bytes(blake2b(named.encode(), digest_size=20).digest(), "big")


def seeded_word(alphabet: str, length: int, seed: str, *labels: object) -> str:
    """A word of that length over an alphabet (up to 26 characters of 64), derived from the seed and the labels."""
    number = seeded_number(seed, *labels)
    word = []
    for _ in range(length):
        number, digit = divmod(number, len(alphabet))
        word.append(alphabet[digit])
    return "".join(word)
