"""Adapters that lose what is not text."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from turnproof.dialects.pictures import picture_of
from turnproof.messages import FileRef, InlineData, Message, Part, Text, ToolResult

from ._broken import Broken
from ._mutant import suite_mutant
from ._png import png
from ._rewriting import Rewriting, keep_only
from ._wire import Json, Wire


def _without(message: Message, is_lost: Callable[[Part], bool]) -> Message:
    if not any(is_lost(part) for part in message.parts):
        return message
    return replace(message, parts=tuple(part for part in message.parts if not is_lost(part)))


@suite_mutant("user-images-dropped")
class UserImagesDropped(Broken):
    """Pictures in a user's message are skipped, with everything that was said around them."""

    def change_message(self, message: Message) -> Message:
        without_images = _without(
            message, lambda part: isinstance(part, InlineData) and part.mime_type.startswith("image/")
        )
        return without_images if without_images.parts else Message.user("(a picture)")


@suite_mutant("blank-pictures-sent")
class BlankPicturesSent(Broken):
    """Each PNG of the user goes out as a white one of its size: the picture was opened, and its content lost."""

    def change_message(self, message: Message) -> Message:
        parts = tuple(map(_blank, message.parts))
        return message if message.role != "user" or parts == message.parts else replace(message, parts=parts)


def _blank(part: Part) -> Part:
    if not isinstance(part, InlineData) or part.mime_type != "image/png":
        return part
    picture = picture_of(part.data)
    assert picture is not None
    return replace(part, data=png(picture.width, picture.height, b"\xff" * picture.width * picture.height * 3))


@suite_mutant("documents-dropped")
class DocumentsDropped(Broken):
    """Documents in a user's message are skipped."""

    def change_message(self, message: Message) -> Message:
        return _without(message, lambda part: isinstance(part, InlineData) and not part.mime_type.startswith("image/"))


@suite_mutant("file-references-dropped")
class FileReferencesDropped(Broken):
    """Files that the provider is to fetch by itself are skipped."""

    def change_message(self, message: Message) -> Message:
        return _without(message, lambda part: isinstance(part, FileRef))


@suite_mutant("result-images-dropped")
class ResultImagesDropped(Broken):
    """Attachments of a tool's result are left behind."""

    def change_message(self, message: Message) -> Message:
        if not any(result.attachments for result in message.results):
            return message
        parts = [replace(part, attachments=()) if isinstance(part, ToolResult) else part for part in message.parts]
        return replace(message, parts=tuple(parts))


@suite_mutant("only-first-result-image-sent")
class OnlyFirstResultImageSent(Rewriting):
    """Of several attachments of one result only the first is sent."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for attached in wire.attachments(body):
            images = [one for one in attached if wire.kind(one) == "image"]
            keep_only(attached, lambda one, later=images[1:]: not any(one is other for other in later))


@suite_mutant("images-moved-behind-the-text")
class ImagesMovedBehindTheText(Broken):
    """All text goes out first, pictures and documents after it."""

    def change_message(self, message: Message) -> Message:
        parts = tuple(sorted(message.parts, key=lambda part: not isinstance(part, Text)))
        return message if message.role != "user" or parts == message.parts else replace(message, parts=parts)
