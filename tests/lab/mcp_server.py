"""A tiny MCP server on stdio: `echo` gives its text back, `fail` fails, `slow` takes its time, `picture` sends an image.

Plain Python, no package: `python mcp_server.py`. One JSON-RPC message per line, as MCP's stdio transport wants.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT_ARGUMENT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "echo", "description": "Gives the text back", "inputSchema": TEXT_ARGUMENT},
    {"name": "fail", "description": "Always fails", "inputSchema": TEXT_ARGUMENT},
    {"name": "slow", "description": "Echo, one second later", "inputSchema": TEXT_ARGUMENT},
    {
        "name": "picture",
        "description": "Sends a picture",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool call."""
    text = str(arguments.get("text", ""))
    if name == "picture":
        return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
    if name == "slow":
        time.sleep(1)
    if name in ("echo", "slow"):
        return {"content": [{"type": "text", "text": f"echo: {text}"}], "structuredContent": {"echo": text}}
    return {"content": [{"type": "text", "text": f"{name} failed: {text}"}], "isError": True}


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-03-26"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lab", "version": "1.0.0"},
            "instructions": "Tools of the lab.",
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {}


def main() -> None:
    """Answers requests until stdin ends; notifications have no id and get no answer."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answered(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
