"""The images and documents that scenarios name: tiny, valid, and the same bytes on every machine."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from ..messages import InlineData

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mPQ6w7HihiGlgQAiA5EAelMnMUAAAAASUVORK5CYII="
_JPEG = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71"
    "////m8H////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4"
    "+Pj4+Pj4+Pj/wAARCAAIABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QA"
    "FAEBAAAAAAAAAAAAAAAAAAAAA//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIgBK//Z"
)
_GIF = "R0lGODlhAQABAIAAAC6LV////ywAAAAAAQABAAACAkQBADs="


def _pdf(line: str) -> bytes:
    """A one-page PDF that says `line`, with a correct cross-reference table."""
    shown = f"BT /F1 18 Tf 40 60 Td ({line}) Tj ET"
    fonts = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 120] /Contents 4 0 R /Resources {fonts} >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
    ]
    document, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(document))
        document += f"{number} 0 obj\n{body}\nendobj\n"
    rows = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count = len(bodies) + 1
    trailer = f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(document)}\n%%EOF\n"
    return f"{document}xref\n0 {count}\n0000000000 65535 f \n{rows}{trailer}".encode("ascii")


IMAGES: Final = {
    "png": InlineData(mime_type="image/png", data=b64decode(_PNG)),
    "jpeg": InlineData(mime_type="image/jpeg", data=b64decode(_JPEG)),
    "gif": InlineData(mime_type="image/gif", data=b64decode(_GIF)),
}
"""An 8 × 8 PNG and a 1 × 1 GIF of leafy green, and a 16 × 8 JPEG of brown earth. Not every API documents GIF. Each has
a size of its own: libraries write images again in other bytes, and the size tells which is which."""

DOCUMENTS: Final = {"pdf": InlineData(mime_type="application/pdf", data=_pdf("Seed list: basil, tomato, chard"))}
"""A PDF of one page."""
