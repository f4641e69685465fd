"""One exchange with the Messages API as a HAR file and as a cassette of vcrpy, for the page on recorded traffic."""

from __future__ import annotations

import json

_REQUEST = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello?"}]}
_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
_ADDRESS, _JSON = "https://api.anthropic.com/v1/messages", "application/json"
HAR = {
    "log": {
        "entries": [
            {
                "startedDateTime": "2026-11-02T10:00:00Z",
                "request": {
                    "method": "POST",
                    "url": _ADDRESS,
                    "headers": [],
                    "postData": {"mimeType": _JSON, "text": json.dumps(_REQUEST)},
                },
                "response": {
                    "status": 200,
                    "headers": [{"name": "content-type", "value": _JSON}],
                    "content": {"mimeType": _JSON, "text": json.dumps(_ANSWER)},
                },
            }
        ]
    }
}
CASSETTE = {
    "version": 1,
    "interactions": [
        {
            "request": {"method": "POST", "uri": _ADDRESS, "headers": {}, "body": json.dumps(_REQUEST)},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"content-type": [_JSON]},
                "body": {"string": json.dumps(_ANSWER)},
            },
        }
    ],
}
