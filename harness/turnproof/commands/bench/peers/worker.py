"""A peer library as a process: takes turns when it is told to, and says what they took.

This file runs in the peer's own virtual environment, where there is no turnproof: it imports the standard library and
the peer. `python worker.py PEER ADAPTER`; requests come as JSON, one a line, on stdin, and each is answered by one line
on stdout:

    {"do": "versions"}                                    -> {"versions": {package: version}}
    {"do": "open", "url", "key", "model", "messages", "system", "tools"}  -> {"opened": number}
    {"do": "take", "caller": number, "turns", "streamed"} -> {"taken": [[ns to the end, ns to the first piece]],
                                                              "pieces": [of the last turn]}
    {"do": "close", "caller": number}                     -> {}

Whatever goes wrong is {"error": "Type: words"}. Times are CPU of this process; messages are converted to the peer's
own types where they are opened, which is not measured.
"""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import gc
import json
import os
import sys
from importlib.metadata import distributions
from time import process_time_ns
from typing import Any

# It would ask the network for prices while it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


class LangChain:
    """`invoke` and `stream` of a chat model with the tools bound."""

    def __init__(self, adapter: str, setup: dict[str, Any]) -> None:
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

        self._messages: list[Any] = [SystemMessage(setup["system"])]
        for message in setup["messages"]:
            if message["role"] == "user":
                self._messages.append(HumanMessage(message["text"]))
            elif message["role"] == "model":
                calls = [{**call, "type": "tool_call"} for call in message["calls"]]
                self._messages.append(AIMessage(message["text"], tool_calls=calls))
            else:
                for result in message["results"]:
                    self._messages.append(ToolMessage(result["text"], tool_call_id=result["id"], name=result["name"]))
        model = self._model(adapter, setup)
        self._bound = model.bind_tools(_functions(setup)) if setup["tools"] else model

    def _model(self, adapter: str, setup: dict[str, Any]) -> Any:
        common = {"model": setup["model"], "api_key": setup["key"], "max_retries": 0}
        if adapter == "anthropic":
            from langchain_anthropic import ChatAnthropic

            return ChatAnthropic(base_url=setup["url"], **common)
        if adapter == "openai":
            from langchain_openai import ChatOpenAI

            return ChatOpenAI(base_url=setup["url"], stream_usage=True, **common)
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(base_url=setup["url"], **common)

    def ask(self) -> str:
        return _text(self._bound.invoke(self._messages).content)

    def stream(self) -> Any:
        for chunk in self._bound.stream(self._messages):
            if piece := _text(chunk.content):
                yield piece


class PydanticAI:
    """`Model.request` and `Model.request_stream`, in one event loop."""

    def __init__(self, adapter: str, setup: dict[str, Any]) -> None:
        import asyncio

        from pydantic_ai.messages import (
            ModelRequest,
            ModelResponse,
            SystemPromptPart,
            TextPart,
            ToolCallPart,
            ToolReturnPart,
            UserPromptPart,
        )
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.tools import ToolDefinition

        self._loop = asyncio.new_event_loop()
        self._model = self._open_model(adapter, setup)
        self._messages: list[Any] = [ModelRequest(parts=[SystemPromptPart(setup["system"])])]
        for message in setup["messages"]:
            if message["role"] == "user":
                self._messages.append(ModelRequest(parts=[UserPromptPart(message["text"])]))
            elif message["role"] == "model":
                text = [TextPart(message["text"])] if message["text"] else []
                calls = [ToolCallPart(call["name"], call["args"], call["id"]) for call in message["calls"]]
                self._messages.append(ModelResponse(parts=[*text, *calls]))
            else:
                results = [ToolReturnPart(each["name"], each["text"], each["id"]) for each in message["results"]]
                self._messages.append(ModelRequest(parts=results))
        tools = [
            ToolDefinition(
                name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
            )
            for tool in setup["tools"]
        ]
        self._parameters = ModelRequestParameters(function_tools=tools)

    def _open_model(self, adapter: str, setup: dict[str, Any]) -> Any:
        if adapter == "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(
                setup["model"], provider=AnthropicProvider(api_key=setup["key"], base_url=setup["url"])
            )
        if adapter == "openai":
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            return OpenAIChatModel(setup["model"], provider=OpenAIProvider(api_key=setup["key"], base_url=setup["url"]))
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(setup["model"], provider=GoogleProvider(api_key=setup["key"], base_url=setup["url"]))

    def ask(self) -> str:
        response = self._loop.run_until_complete(self._model.request(self._messages, None, self._parameters))
        return "".join(part.content for part in response.parts if part.part_kind == "text")

    def stream(self) -> Any:
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent

        async def pieces() -> Any:
            async with self._model.request_stream(self._messages, None, self._parameters) as response:
                async for event in response:
                    if isinstance(event, PartStartEvent) and event.part.part_kind == "text":
                        yield event.part.content
                    elif isinstance(event, PartDeltaEvent) and event.delta.part_delta_kind == "text":
                        yield event.delta.content_delta

        walk = pieces()
        while True:
            try:
                piece = self._loop.run_until_complete(anext(walk))
            except StopAsyncIteration:
                return
            if piece:
                yield piece


class LiteLLM:
    """`completion`, with messages in OpenAI's form."""

    def __init__(self, adapter: str, setup: dict[str, Any]) -> None:
        import litellm

        self._completion = litellm.completion
        prefix = {"anthropic": "anthropic", "openai": "openai", "google_genai": "gemini"}[adapter]
        self._options = {
            "model": f"{prefix}/{setup['model']}",
            "api_key": setup["key"],
            # Gemini's version is a part of the address here.
            "api_base": f"{setup['url']}/v1beta" if prefix == "gemini" else setup["url"],
            "messages": _openai_messages(setup),
            "num_retries": 0,
            **({"tools": _functions(setup)} if setup["tools"] else {}),
        }

    def ask(self) -> str:
        return str(self._completion(**self._options).choices[0].message.content)

    def stream(self) -> Any:
        for chunk in self._completion(**self._options, stream=True):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                yield piece


class AnyLLM:
    """`completion` of a client for one provider, with messages in OpenAI's form."""

    def __init__(self, adapter: str, setup: dict[str, Any]) -> None:
        from any_llm import AnyLLM as Client

        provider = {"anthropic": "anthropic", "openai": "openai", "google_genai": "gemini"}[adapter]
        self._client = Client.create(provider, api_key=setup["key"], api_base=setup["url"])
        self._options = {
            "model": setup["model"],
            "messages": _openai_messages(setup),
            **({"tools": _functions(setup)} if setup["tools"] else {}),
        }

    def ask(self) -> str:
        return str(self._client.completion(**self._options).choices[0].message.content)

    def stream(self) -> Any:
        for chunk in self._client.completion(**self._options, stream=True):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                yield piece


PEERS = {"langchain": LangChain, "pydantic-ai": PydanticAI, "litellm": LiteLLM, "any-llm": AnyLLM}


def _text(content: Any) -> str:
    """The visible text of a message that is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block.get("text", "") for block in content)


def _functions(setup: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": tool} for tool in setup["tools"]]


def _openai_messages(setup: dict[str, Any]) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = [{"role": "system", "content": setup["system"]}]
    for message in setup["messages"]:
        if message["role"] == "user":
            documents.append({"role": "user", "content": message["text"]})
        elif message["role"] == "model" and not message["calls"]:
            documents.append({"role": "assistant", "content": message["text"]})
        elif message["role"] == "model":
            calls = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
                }
                for call in message["calls"]
            ]
            documents.append({"role": "assistant", "content": message["text"] or None, "tool_calls": calls})
        else:
            for result in message["results"]:
                documents.append({"role": "tool", "tool_call_id": result["id"], "content": result["text"]})
    return documents


def _run_turns(caller: Any, turns: int, streamed: bool) -> dict[str, Any]:
    """So many turns, as in turnproof's own process: the collector has just run, and works as ever."""
    durations: list[tuple[int, int]] = []
    pieces: list[str] = []
    gc.collect()
    for _ in range(turns):
        pieces, first = [], 0
        start = process_time_ns()
        if streamed:
            for piece in caller.stream():
                first = first or process_time_ns()
                pieces.append(piece)
        else:
            pieces.append(caller.ask())
        durations.append((process_time_ns() - start, first and first - start))
    return {"taken": durations, "pieces": pieces}


class Worker:
    """Answers requests one by one."""

    def __init__(self, peer: str, adapter: str) -> None:
        self._peer, self._adapter = peer, adapter
        self._callers: dict[int, Any] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "versions":
                return {"versions": {each.metadata["Name"]: each.version for each in distributions()}}
            case "open":
                number = len(self._callers)
                self._callers[number] = PEERS[self._peer](self._adapter, request)
                # What lives as long as the process is nobody's garbage.
                gc.collect()
                gc.freeze()
                return {"opened": number}
            case "take":
                return _run_turns(self._callers[request["caller"]], request["turns"], request["streamed"])
            case _:
                self._callers[request["caller"]] = None
                return {}


def main() -> None:
    """Until stdin ends. What the peer prints is talk and goes to stderr."""
    out, sys.stdout = sys.stdout, sys.stderr
    worker = Worker(*sys.argv[1:3])
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:  # whatever a peer raises is told to who asked
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
