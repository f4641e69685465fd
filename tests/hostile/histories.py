"""Conversations that no provider would take as they are, by what is wrong with them.

Each ends so that a user message can follow. `SOUND` is the one nothing is wrong with.
"""

from __future__ import annotations

from collections.abc import Sequence

from turnproof import messages as m

TOOLS = [m.ToolSchema("read", "Reads.", {"type": "object", "properties": {"bed": {"type": "string"}}})]
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")

user, model, system = m.Message.user, m.Message.model, m.Message.system


def call(id: str = "c1", bed: str = "3", name: str = "read") -> m.FunctionCall:
    return m.FunctionCall(id, name, {"bed": bed})


def result(id: str = "c1", value: object = "41 %", name: str = "read") -> m.ToolResult:
    return m.ToolResult(id, name, value)


def tool(*results: m.ToolResult) -> m.Message:
    return m.Message.tool(*results)


FOREIGN = m.ProviderData("elsewhere", "model-x", {"signature": "c2ln"})

SOUND: Sequence[m.Message] = (user("hi"), model("hello", call()), tool(result()), model("41 %"))

BROKEN: dict[str, Sequence[m.Message]] = {
    # calls and results
    "orphan result first": (tool(result()), user("hi"), model("hello")),
    "orphan result in the middle": (user("hi"), model("hello"), tool(result()), user("so"), model("yes")),
    "orphan result at the end": (user("hi"), model("hello"), tool(result())),
    "result before its call": (user("hi"), tool(result()), model("so", call()), user("and?"), model("well")),
    "result after a user message": (user("hi"), model("so", call()), user("and?"), tool(result()), model("41 %")),
    "call without result": (user("hi"), model("so", call()), user("and?"), model("well")),
    "call without result at the end": (user("hi"), model("so", call())),
    "one of two calls answered": (user("hi"), model(call("c1"), call("c2", "4")), tool(result("c2")), model("hm")),
    "results in the wrong order": (
        user("hi"),
        model(call("c1"), call("c2", "4")),
        tool(result("c2", "12 %"), result("c1", "41 %")),
        model("hm"),
    ),
    "results in two messages": (
        user("hi"),
        model(call("c1"), call("c2", "4")),
        tool(result("c1")),
        tool(result("c2")),
        model("hm"),
    ),
    "two results for one call": (user("hi"), model(call()), tool(result(), result(value="12 %")), model("hm")),
    "two calls of one id": (
        user("hi"),
        model(call(), call(bed="4")),
        tool(result(), result(value="12 %")),
        model("hm"),
    ),
    "one id in two turns": (
        user("hi"),
        model(call()),
        tool(result()),
        model("41 %"),
        user("again"),
        model(call()),
        tool(result(value="40 %")),
        model("40 %"),
    ),
    "empty ids": (user("hi"), model(call(""), call("", "4")), tool(result(""), result("", "12 %")), model("hm")),
    "result for another tool": (user("hi"), model(call()), tool(result(name="write")), model("hm")),
    "unknown tool": (user("hi"), model(call(name="gone")), tool(result(name="gone")), model("hm")),
    "empty tool name": (user("hi"), model(call(name="")), tool(result(name="")), model("hm")),
    # who speaks when
    "model first": (model("hello"), user("hi"), model("hm")),
    "call first": (model(call()), tool(result()), model("hm")),
    "model last": (user("hi"), model("hello"), model("still there?")),
    "only the model": (model("hello"),),
    "only an instruction": (system("Be brief."),),
    "instruction first": (system("Be brief."), user("hi"), model("hello")),
    "instruction between call and result": (
        user("hi"),
        model(call()),
        system("Be brief."),
        tool(result()),
        model("hm"),
    ),
    "instruction last": (user("hi"), model("hello"), system("Be brief.")),
    "two of the user": (user("hi"), user("there"), model("hello")),
    "two of the model": (user("hi"), model("hello"), model("there")),
    "calls in two messages": (
        user("hi"),
        model(call("c1")),
        model(call("c2")),
        tool(result("c1"), result("c2")),
        model("hm"),
    ),
    # parts where they do not belong
    "call by the user": (user("hi", call()), model("hello")),
    "result by the user": (user("hi"), model(call()), user(result(), "and?"), model("hm")),
    "result by the model": (user("hi"), model(call(), result()), user("and?"), model("hm")),
    "text beside results": (user("hi"), model(call()), m.Message("tool", (result(), m.Text("so"))), model("hm")),
    "thought by the user": (user(m.Thought("hm"), "hi"), model("hello")),
    "image by the model": (user("hi"), model("look:", m.InlineData("image/png", PNG)), user("nice"), model("yes")),
    "file by the model": (
        user("hi"),
        model(m.FileRef("image/png", "https://example.com/a.png")),
        user("nice"),
        model("yes"),
    ),
    # nothing said
    "empty user message": (user(), model("hello")),
    "empty model message": (user("hi"), model(), user("there?"), model("yes")),
    "empty tool message": (user("hi"), model("hello"), tool(), user("there?"), model("yes")),
    "empty tool message behind a call": (user("hi"), model(call()), tool(), model("hm")),
    "empty text": (user("hi"), model(""), user(""), model("yes")),
    "blank text": (user("hi"), model(" \n"), user("\t"), model("yes")),
    "blank text and a call": (user("hi"), model("\n", call()), tool(result()), model("hm")),
    "empty instruction": (user("hi"), model("hello"), system(""), user("so"), model("yes")),
    "only an empty message": (user(),),
    "empty result": (user("hi"), model(call()), tool(result(value="")), model("hm")),
    "blank result": (user("hi"), model(call()), tool(result(value=" \n")), model("hm")),
    "result of nothing": (user("hi"), model(call()), tool(result(value=None)), model("hm")),
    # what others have issued
    "foreign signatures": (
        user("hi"),
        model(m.Thought("hm", provider_data=FOREIGN), m.FunctionCall("c1", "read", {}, provider_data=FOREIGN)),
        tool(result()),
        model(m.Text("41 %", provider_data=FOREIGN)),
    ),
    "unsigned thought": (user("hi"), model(m.Thought("hm"), "hello")),
    "only a thought": (user("hi"), model(m.Thought("hm")), user("so"), model("yes")),
    "thought at the end": (user("hi"), model("hello", m.Thought("hm"))),
    "foreign opaque block": (user("hi"), model(m.Opaque("elsewhere", "web", {"a": 1})), user("so"), model("yes")),
    "code that ran elsewhere": (
        user("hi"),
        model(m.ExecutableCode("PYTHON", "1+1"), m.CodeExecutionResult("OUTCOME_OK", "2")),
        user("so"),
        model("yes"),
    ),
    # ids
    "one message id twice": (
        m.Message("user", (m.Text("hi"),), "m1"),
        m.Message("model", (m.Text("hello"),), "m1"),
        m.Message("user", (m.Text("so"),), "m1"),
        m.Message("model", (m.Text("yes"),), "m1"),
    ),
    "one message twice": (SOUND[0], *SOUND[1:], SOUND[0], *SOUND[1:]),
    "ids of other providers": (
        user("hi"),
        model(call("functions.read:0"), call("x" * 80, "4"), call("größe 北", "5")),
        tool(result("functions.read:0"), result("x" * 80), result("größe 北")),
        model("hm"),
    ),
}
"""Every one of these is made of legal messages."""
