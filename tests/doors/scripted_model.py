"""A model that says what a test wrote down: Anthropic's API on this machine, as far as Claude Code asks for it."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG = "hang"
"""In a script: nothing more comes, until the client gives up."""
_NUMBERS = itertools.count(1)

Block = dict[str, Any] | str


def say(text: str) -> Block:
    return {"type": "text", "text": text}


def use(tool: str, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{next(_NUMBERS):016d}", "name": tool, "input": given}


class Model:
    """`script` is what it answers, a list of blocks a request; a number is an error with that status."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.script: list[list[Block] | int] = []
        self.hangs = threading.Event()
        self.url = ""

    def answer(self, request: dict[str, Any]) -> list[Block] | int:
        if not request.get("tools"):
            return [say('{"title": "A test"}')]  # what the program asks for itself
        self.asked.append(request)
        return self.script.pop(0) if self.script else [say("Done.")]

    def heard(self) -> str:
        """All that it was ever sent, as text."""
        return "\n".join(_texts(self.asked))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


@contextmanager
def serving() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._json(200, {})

        def do_GET(self) -> None:
            self._json(404, {})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self._json(200, {"input_tokens": 10})
                return
            answer = model.answer(request)
            if isinstance(answer, int):
                told = {"type": "invalid_request_error", "message": "a failure of the script"}
                self._json(answer, {"type": "error", "error": told})
            elif request.get("stream"):
                self._stream(request, answer)
            else:
                self._json(200, {**self._message(request), "content": answer, "stop_reason": "end_turn"})

        def _message(self, request: dict[str, Any]) -> dict[str, Any]:
            return {
                "id": f"msg_{next(_NUMBERS)}", "type": "message", "role": "assistant", "model": request.get("model"),
                "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5},
            }  # fmt: skip

        def _json(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _event(self, kind: str, **data: Any) -> None:
            self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
            self.wfile.flush()

        def _stream(self, request: dict[str, Any], blocks: list[Block]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self._event("message_start", message=self._message(request))
            stop = "end_turn"
            for i, block in enumerate(blocks):
                if isinstance(block, str):
                    model.hangs.set()
                    with contextlib.suppress(ConnectionError):
                        self.rfile.read(1)  # until the client goes
                    return
                if block["type"] == "text":
                    self._event("content_block_start", index=i, content_block={"type": "text", "text": ""})
                    delta = {"type": "text_delta", "text": block["text"]}
                else:
                    stop = "tool_use"
                    self._event("content_block_start", index=i, content_block={**block, "input": {}})
                    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                self._event("content_block_delta", index=i, delta=delta)
                self._event("content_block_stop", index=i)
            self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 5})
            self._event("message_stop")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
