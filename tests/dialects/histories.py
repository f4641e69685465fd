"""The histories that the cases of every dialect are made of."""

from __future__ import annotations

from turnproof import messages as m

from .parts import inline, linked, model, user
from .requests import Json

OPENING, THANKS = user("How moist is bed 3?"), user("Thanks")
CALL, RESULT = m.FunctionCall("call_1", "read_sensor", {"bed": "3"}), m.ToolResult("call_1", "read_sensor", "41 %")
HELD_LOOP: tuple[m.Message, ...] = (OPENING, model("Let me look.", CALL), m.Message.tool(RESULT))
SENSOR = m.ToolSchema("read_sensor", "Read one sensor", {"type": "object", "properties": {"bed": {"type": "string"}}})
MARKED = user(m.Text("How moist is bed 3?", cache=m.CacheMark()))
PNG, PDF = inline(b"png"), linked("https://a/b.pdf", "application/pdf")
READING: Json = {"percent": 41, "ok": True, "beds": ["3", None]}
