"""Settings of a request that make a real model answer with a call, with text alone, or briefly.

Each API has its own names for them. A dialect's `ask_for` is one of the functions here. They return the members of the
request's body that change, with their new values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .base import WantedAnswer

Members = dict[str, Any]


def ask_messages_for(body: Mapping[str, Any], answer: WantedAnswer) -> Members:
    """For the Messages API. A model that thinks can be forced to no call, and its limit has to be above its budget."""
    thinking = body.get("thinking") or {}
    if thinking.get("type", "disabled") != "disabled":
        return {}
    choice: Members = {}
    if answer.tool is not None:
        choice = {"tool_choice": {"type": "tool", "name": answer.tool}}
    elif answer.no_call:
        choice = {"tool_choice": {"type": "none"}}
    return choice | _limit("max_tokens", answer)


def ask_messages_unforced_for(body: Mapping[str, Any], answer: WantedAnswer) -> Members:
    """For a service with the Messages API that refuses to have a call forced (`zai/forced-tool`)."""
    return ask_messages_for(body, replace(answer, tool=None))


def ask_chat_for(body: Mapping[str, Any], answer: WantedAnswer) -> Members:
    """For chat completions."""
    choice: Members = {}
    if answer.tool is not None:
        choice = {"tool_choice": {"type": "function", "function": {"name": answer.tool}}}
    elif answer.no_call:
        choice = {"tool_choice": "none"}
    return choice | _limit("max_tokens" if "max_tokens" in body else "max_completion_tokens", answer)


def ask_responses_for(body: Mapping[str, Any], answer: WantedAnswer, least: int) -> Members:
    """For the Responses API, which takes no limit below `least`."""
    if answer.most_tokens is not None:
        answer = replace(answer, most_tokens=max(least, answer.most_tokens))
    choice: Members = {}
    if answer.tool is not None:
        choice = {"tool_choice": {"type": "function", "name": answer.tool}}
    elif answer.no_call:
        choice = {"tool_choice": "none"}
    return choice | _limit("max_output_tokens", answer)


def ask_gemini_for(body: Mapping[str, Any], answer: WantedAnswer) -> Members:
    """For `generateContent`."""
    found: Members = {}
    if answer.tool is not None:
        found["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [answer.tool]}}
    elif answer.no_call:
        found["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    name = "generation_config" if "generation_config" in body else "generationConfig"
    if limit := _limit("maxOutputTokens", answer):
        found[name] = {**(body.get(name) or {}), **limit}
    return found


def ask_interactions_for(body: Mapping[str, Any], answer: WantedAnswer) -> Members:
    """For the Interactions API."""
    members = _limit("max_output_tokens", answer)
    if answer.tool is not None:
        members["tool_choice"] = {"allowed_tools": {"mode": "any", "tools": [answer.tool]}}
    elif answer.no_call:
        members["tool_choice"] = "none"
    return {"generation_config": {**(body.get("generation_config") or {}), **members}} if members else {}


def _limit(name: str, answer: WantedAnswer) -> Members:
    return {} if answer.most_tokens is None else {name: answer.most_tokens}
