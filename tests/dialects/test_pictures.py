"""Images that show the same picture in other bytes, and those that do not."""

from __future__ import annotations

from base64 import b64decode

import pytest

from turnproof.dialects.pictures import picture_of, same_picture, with_held_pictures
from turnproof.messages import InlineData, Message, Text, ToolResult
from turnproof.scenarios._samples import IMAGES
from turnproof_suites.mutants._png import png

# Written by Pillow 12: a picture of twelve colours with PNG's filters, the same with an alpha channel, as progressive
# JPEG, and with one pixel changed; one of gray, with one channel and with three; one of earth as WebP, lossless, lossy
# and with alpha.
MIXED = (
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAHElEQVR4nGNk+M/A9V0Vglg07kyBcxgDtmvAOQARxw4j0h6oeQ"
    "AAAABJRU5ErkJggg=="
)
MIXED_RGBA = (
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAYAAAC09K7GAAAAPklEQVR4AQEzAMz/AQD/AP8K9yUACvclAAr3JQAEKNyUAAr3JQAK9yUACvclAAFQtyj/"
    "CvclAAr3JQAK9yUAqTsQIfPM/JUAAAAASUVORK5CYII="
)
CHANGED = (
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAGklEQVR4nGNk+M/A9V0Vglg07kzBwpkbywAAFj0OY4Np8G4AAAAASUVORK5CYII="
)
GRAY = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAAEElEQVR4nGP0ZWBgYGKAEQAEcgBTVknmCgAAAABJRU5ErkJggg=="
GRAY_RGB = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAFElEQVR4nGP09fVlgAEmBiSAwgEAIf8A7Y6KR1YAAAAASUVORK5CYII="
WEBPS = (
    "UklGRh4AAABXRUJQVlA4TBEAAAAvD8ABAAdQrS52pf+BiOh/AAA=",
    "UklGRiwAAABXRUJQVlA4ICAAAABwAQCdASoQAAgADMDOJaACdAFAAAD+xOxGGtyJuwMAAA==",
)
SHEER = "UklGRkgAAABXRUJQVlA4WAoAAAAQAAAAAwAAAgAAQUxQSAoAAAABB1CUiAhERP8DVlA4IBgAAAAwAQCdASoEAAMACQCsJaQAA3AA/u6gQAA="


def image(text: str, kind: str = "png") -> InlineData:
    return InlineData(f"image/{kind}", b64decode(text))


@pytest.mark.parametrize(("one", "other"), [(MIXED, MIXED_RGBA), (GRAY, GRAY_RGB)])
def test_a_png_that_was_written_again_shows_the_same(one: str, other: str) -> None:
    assert same_picture(image(one), image(other))


def test_a_png_with_one_other_pixel_does_not() -> None:
    assert not same_picture(image(MIXED), image(CHANGED))


@pytest.mark.parametrize("webp", WEBPS)
def test_of_other_formats_the_size_is_compared(webp: str) -> None:
    assert same_picture(IMAGES["jpeg"], image(webp, "webp"))
    assert not same_picture(IMAGES["png"], image(webp, "webp"))
    assert not same_picture(IMAGES["gif"], image(webp, "webp"))


def test_the_size_of_a_webp_with_alpha_is_read() -> None:
    shown = picture_of(b64decode(SHEER))
    assert shown is not None
    assert shown[:2] == (4, 3)


@pytest.mark.parametrize(
    "data", [b"", b"GIF89a", b"\xff\xd8\xff", b"%PDF-1.4", IMAGES["png"].data[:40], b"RIFF....WEBPVP8 "]
)
def test_what_is_damaged_or_no_image_shows_nothing(data: bytes) -> None:
    assert picture_of(data) is None
    assert not same_picture(InlineData("image/png", data), IMAGES["png"])


def test_a_picture_that_is_too_large_to_decode_is_compared_by_its_size() -> None:
    one, other = (png(600, 500, bytes([n]) * 900_000) for n in (1, 2))
    assert same_picture(InlineData("image/png", one), InlineData("image/png", other))


def test_held_pictures_stand_for_what_was_sent_in_results_and_messages_each_for_its_own() -> None:
    brown = png(16, 8, b"\x8b\x5a\x2b" * 128)
    green = png(8, 8, picture_of(IMAGES["png"].data)[2])  # type: ignore[index,arg-type]
    history = [
        Message(
            "user", (IMAGES["png"], Text("and"), IMAGES["jpeg"], ToolResult("c", "t", 1, attachments=(IMAGES["jpeg"],)))
        )
    ]
    again = [Message("user", (InlineData("image/png", green), Text("and"), InlineData("image/png", brown),
                              ToolResult("c", "t", 1, attachments=(InlineData("image/png", brown),))))]  # fmt: skip
    (message,) = with_held_pictures(again, history)
    assert message.parts == history[0].parts


def test_a_picture_that_was_sent_as_it_is_stands_for_no_other() -> None:
    blank = InlineData("image/png", png(8, 8, b"\xff" * 192))
    history = [Message("user", (IMAGES["png"],))]
    sent = [Message("user", (IMAGES["png"], blank))]
    assert with_held_pictures(sent, history) == tuple(sent)
    (swapped,) = with_held_pictures([Message("user", (blank,))], history)
    assert swapped.parts == (blank,)


def test_a_picture_that_is_sent_without_its_type_has_that_of_the_held_one() -> None:
    sent = [Message("user", tuple(InlineData("image/*", IMAGES[kind].data) for kind in ("png", "jpeg")))]
    (message,) = with_held_pictures(sent, [Message("user", (IMAGES["png"], Text("and"), IMAGES["jpeg"]))])
    assert message.parts == (IMAGES["png"], IMAGES["jpeg"])
    other = [Message("user", (InlineData("image/*", b"others"),))]
    assert with_held_pictures(other, [Message("user", (IMAGES["png"],))]) == tuple(other)


def test_a_picture_that_is_sent_under_another_type_keeps_it() -> None:
    sent = [Message("user", (InlineData("image/gif", IMAGES["png"].data),))]
    assert with_held_pictures(sent, [Message("user", (IMAGES["png"],))]) == tuple(sent)


def test_two_held_pictures_of_one_size_stand_for_one_sent_image_each() -> None:
    photos = [InlineData("image/jpeg", IMAGES["jpeg"].data + end) for end in (b"", b"\0")]
    again = [InlineData("image/png", png(16, 8, bytes([n]) * 384)) for n in (1, 2)]
    (message,) = with_held_pictures([Message("user", tuple(again))], [Message("user", tuple(photos))])
    assert message.parts == tuple(photos)
