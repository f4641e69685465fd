"""Freedoms of pictures and bytes: other bytes of the same picture, other letters of the same bytes."""

from __future__ import annotations

from msgspec.structs import replace as changed

from turnproof.dialects.pictures import picture_of
from turnproof.messages import FileRef, InlineData, Part, ToolResult

from ..mutants._png import png
from ..mutants._wire import Json
from ._body import OfEachAPI, blocks_of_all
from ._parts import ChangedParts
from ._right import right


@right("images-written-again")
class _ImagesWrittenAgain(ChangedParts):
    """Images are opened and written again as PNG, as libraries do that resize or convert what is too large: the same
    picture in other bytes."""

    def part_out(self, part: Part) -> Part:
        if isinstance(part, ToolResult):
            return changed(part, attachments=tuple(map(_written_again, part.attachments)))
        return _written_again(part) if isinstance(part, InlineData) else part


def _written_again(image: InlineData | FileRef) -> InlineData | FileRef:
    shown = picture_of(image.data) if isinstance(image, InlineData) else None
    if shown is None:
        return image
    # A JPEG of the suite is of one colour; which one it is written again in, the size does not tell.
    pixels = shown.pixels or b"\x8b\x5a\x2b" * shown.width * shown.height
    return InlineData(mime_type="image/png", data=png(shown.width, shown.height, pixels))


@right("detail-spelled-out")
class _DetailSpelledOut(OfEachAPI):
    """The service chooses how closely it looks at an image: the default, spelled out."""

    def change_chat(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] == "image_url":
                block["image_url"].setdefault("detail", "auto")

    def change_responses(self, body: Json) -> None:
        for block in blocks_of_all(body["input"]) if isinstance(body["input"], list) else ():
            if block["type"] == "input_image":
                block.setdefault("detail", "auto")


@right("bytes-in-letters-of-urls")
class _BytesInLettersOfURLs(OfEachAPI):
    """Bytes go out in the alphabet of Base64 for URLs; a service that reads Protocol Buffers takes either."""

    def change_gemini(self, body: Json) -> None:
        for content in body["contents"]:
            for part in content.get("parts", ()):
                for holder, key in ((part, "thoughtSignature"), (part.get("inlineData", {}), "data")):
                    if key in holder:
                        holder[key] = holder[key].replace("+", "-").replace("/", "_")


@right("documents-with-names")
class _DocumentsWithNames(OfEachAPI):
    """Every document has the same name, as a library gives one where the caller has none."""

    def change_messages(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] == "document":
                block["title"] = "document"

    def change_chat(self, body: Json) -> None:
        for block in blocks_of_all(body["messages"]):
            if block["type"] == "file" and "file_data" in block["file"]:
                block["file"]["filename"] = "filename"
