"""A fake model server with Ollama's API and OpenAI's; ``plan`` and ``always`` set its answers."""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from keepsake.models.capabilities import LLAMA_CPP_DEFAULT_TEMPLATE

DIMENSION = 16


@dataclass(frozen=True)
class Reply:
    """How the server answers one request."""

    text: str | None = None  # the answer's text; None for the script's
    status: int = 200
    retry_after: str = ""  # the Retry-After header
    delay: float = 0.0  # seconds before anything is sent
    gate: threading.Event | None = None  # the reply waits until this is set
    raw: bytes | None = None  # the body, instead of the protocol's
    hang_up: bool = False  # close the connection without an answer
    drip: float = 0.0  # seconds between the bytes of the body, or the pieces of a stream
    cut: int | None = None  # close the connection after this many pieces
    calls: Sequence[tuple[str, Any]] = ()  # tool calls: names and arguments
    thought: str = ""  # the model's reasoning, in a field of its own; the answer is then empty


@dataclass(frozen=True)
class Call:
    """One request that the server received."""

    path: str
    body: dict[str, Any]
    port: int  # the client's end of the connection
    session: str  # the X-Session-ID header, by which a gateway may route requests


def llm_page(**profiles: str) -> str:
    """Return the text of ``llm.md``; each profile's settings are words ``name=value``."""
    pages = []
    for name, settings in profiles.items():
        lines = ("**{}**: {}".format(*each.split("=", 1)) for each in settings.split())
        pages.append("\n".join([f"## {name}", *lines, ""]))
    return "\n".join(pages)


class FakeModelServer:
    """Serves on loopback, in threads, until :meth:`close`.

    Attributes:
        script: Makes an answer from the prompt.
        models: Names that ``/api/tags`` and ``/v1/models`` list.
        kind: The server that it imitates: ``llama.cpp``, ``vllm``, ``ollama``, or empty.
        template: The model's chat template, as ``/props`` or ``/api/show`` shows it.
        context: The model's context in tokens, 0 for unlimited. Ollama cuts longer prompts, the
            others refuse them.
        evaluates: Tokens of a prompt that Ollama really evaluates; 0 for all.
        capabilities: What Ollama reports that the model supports.
        slots: How many requests are answered at once; the others wait.
        total_slots: How many prompts llama.cpp says that it keeps.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        script: Callable[[str], str] = lambda _: " wait",
        models: Sequence[str] = ("fake",),
    ) -> None:
        self.script = script
        self.models = list(models)
        self.kind = ""
        self.template = ""
        self.context = 0
        self.evaluates = 0
        self.capabilities = ["completion"]
        self.slots = threading.Semaphore(1000)
        self.total_slots = 6
        self._calls: list[Call] = []
        self._plans: dict[str, deque[Reply]] = defaultdict(deque)
        self._always: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"fake": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.port: int = self._http.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def plan(self, path: str, *replies: Reply) -> None:
        """Answer the next requests to ``path`` with these replies, in order."""
        self._plans[path].extend(replies)

    def always(self, path: str, reply: Reply) -> None:
        """Answer every request to ``path`` that has no plan with this reply."""
        self._always[path] = reply

    def calls(self, path: str | None = None) -> list[Call]:
        """Return the received requests, in order."""
        with self._lock:
            return [call for call in self._calls if path in (None, call.path)]

    def prompts(self) -> list[str]:
        """Return the prompts of all generations, in order."""
        return [call.body["prompt"] for call in self.calls() if "prompt" in call.body]

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> FakeModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, call: Call) -> Reply:
        with self._lock:
            self._calls.append(call)
            if planned := self._plans[call.path]:
                return planned.popleft()
            return self._always.get(call.path, Reply())

    def _answer(self, call: Call, reply: Reply) -> tuple[int, Any]:
        """Return the status, and the body or the pieces of a stream."""
        body = call.body
        model = str(body.get("model") or self.models[0])
        if reply.status != 200:
            return reply.status, {"error": reply.text or f"planned {reply.status}"}
        known = [each.removesuffix(":latest") for each in self.models]
        if "model" in body and model.removesuffix(":latest") not in known:
            return 404, {"error": f"model '{model}' not found"}
        speak = _ROUTES.get(call.path.partition("?")[0])
        if speak is None or (call.path.startswith("/props") and self.kind != "llama.cpp"):
            return 404, {"error": f"no such path {call.path}"}
        if refusal := self._refusal(call):
            return 400, {"error": refusal}
        return 200, speak(self, body, reply, model)

    def _refusal(self, call: Call) -> str:
        """Return why a real server refuses this request with HTTP 400. Empty if it does not."""
        for name, ability in (("think", "thinking"), ("tools", "tools")):
            wanted = call.path == "/api/chat" and call.body.get(name) not in (None, [])
            if wanted and ability not in self.capabilities:
                return f'"{self.models[0]}" does not support {ability}'
        number = _tokens(call.body)
        if self.context and number > self.context and call.path.startswith("/v1/"):
            return (
                f"This model's maximum context length is {self.context} tokens. However, your "
                f"messages resulted in {number} tokens."
            )
        return ""

    def _words(self, body: dict[str, Any], reply: Reply, stops: Sequence[str]) -> list[str]:
        """Return the words of an answer, one for each piece."""
        text = self.script(_prompt_text(body)) if reply.text is None else reply.text
        cuts = [text.index(stop) for stop in stops if stop in text]
        text = text[: min(cuts)] if cuts else text
        return [] if reply.thought else re.findall(r"\s*\S+|\s+\Z", text)

    def _ollama(self, body: dict[str, Any], reply: Reply, model: str) -> list[dict[str, Any]]:
        words = self._words(body, reply, body.get("options", {}).get("stop", ()))
        chat = "messages" in body

        def piece(words: str = "", **said: Any) -> dict[str, Any]:
            message = {"message": {"role": "assistant", "content": words, **said}}
            return {"model": model, "done": False, **(message if chat else {"response": words})}

        calls = [{"function": {"name": n, "arguments": given}} for n, given in reply.calls]
        last = piece() | {
            "done": True,
            "done_reason": "length" if reply.thought else "stop",
            "prompt_eval_count": min(_tokens(body), self.evaluates or sys.maxsize),
            "eval_count": len(words),
        }
        thought = [piece(thinking=reply.thought)] if reply.thought else []
        return [*thought, *map(piece, words), *([piece(tool_calls=calls)] if calls else []), last]

    def _openai(self, body: dict[str, Any], reply: Reply, model: str) -> list[dict[str, Any]]:
        words = self._words(body, reply, body.get("stop", ()))
        chat = "messages" in body

        def piece(words: str = "", finish: str | None = None, **said: Any) -> dict[str, Any]:
            own = {"delta": {"content": words, **said}} if chat else {"text": words}
            return {"model": model, "choices": [{"index": 0, "finish_reason": finish, **own}]}

        pieces = [piece(reasoning_content=reply.thought)] if reply.thought else []
        pieces += map(piece, words)
        for index, (name, given) in enumerate(reply.calls):  # the arguments in two halves
            half = len(given) // 2
            for own in ({"name": name, "arguments": given[:half]}, {"arguments": given[half:]}):
                pieces.append(piece(tool_calls=[{"index": index, "function": own}]))
        pieces.append(piece(finish="length" if reply.thought else "stop"))
        if "stream_options" in body:
            used = {"prompt_tokens": _tokens(body), "completion_tokens": len(words)}
            pieces.append({"model": model, "choices": [], "usage": used})
        return pieces

    def _show(self, *_: object) -> dict[str, Any]:
        size = {"fake.context_length": self.context} if self.context else {}
        template = self.template or "{{ .Prompt }}"
        return {"template": template, "model_info": size, "capabilities": self.capabilities}

    def _props(self, *_: object) -> dict[str, Any]:
        size = {"n_ctx": self.context} if self.context else {}
        # llama.cpp reports its default template if the model has none.
        template = self.template or LLAMA_CPP_DEFAULT_TEMPLATE
        return {
            "default_generation_settings": size,
            "build_info": "b1",
            "chat_template": template,
            "total_slots": self.total_slots,
        }

    def _tags(self, *_: object) -> dict[str, Any]:
        return {"models": [{"model": name, "name": name} for name in self.models]}

    def _ps(self, *_: object) -> dict[str, Any]:
        loaded = self.models if self.context else []
        return {"models": [{"model": name, "context_length": self.context} for name in loaded]}

    def _models(self, *_: object) -> dict[str, Any]:
        owner = {"llama.cpp": "llamacpp"}.get(self.kind, self.kind or "me")
        size = {"max_model_len": self.context} if self.kind == "vllm" and self.context else {}
        return {"data": [{"id": name, "owned_by": owner, **size} for name in self.models]}

    def _embeddings(self, body: dict[str, Any], *_: object) -> dict[str, Any]:
        rows = [{"index": i, "embedding": vector(t)} for i, t in enumerate(body["input"])]
        # Out of order, as the protocol allows.
        return {"data": rows[::-1]}


_ROUTES: dict[str, Callable[..., Any]] = {
    "/api/generate": FakeModelServer._ollama,
    "/api/chat": FakeModelServer._ollama,
    "/api/show": FakeModelServer._show,
    "/api/tags": FakeModelServer._tags,
    "/api/ps": FakeModelServer._ps,
    "/v1/completions": FakeModelServer._openai,
    "/v1/chat/completions": FakeModelServer._openai,
    "/v1/models": FakeModelServer._models,
    "/props": FakeModelServer._props,
    "/health": lambda *_: {},
    "/v1/embeddings": FakeModelServer._embeddings,
}


def _prompt_text(body: dict[str, Any]) -> str:
    """Return the prompt, or the messages as lines."""
    said = [f"{each['role']}: {each['content']}" for each in body.get("messages", ())]
    return "\n".join(said) or str(body.get("prompt", ""))


def tokens(text: str) -> list[str]:
    """Return the text's words, punctuation marks and line ends."""
    return re.findall(r"\w+|[^\w\s]|\n", text)


def _tokens(body: dict[str, Any]) -> int:
    """Return the tokens of the prompt, or of the longest text to embed."""
    return max(len(tokens(each)) for each in body.get("input") or [_prompt_text(body)])


def vector(text: str) -> list[float]:
    """Return a unit vector of the text's words. Texts that share words are close."""
    total = [0.0] * DIMENSION
    for word in text.lower().split():
        total[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    length = math.hypot(*total) or 1.0
    return [value / length for value in total]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    fake: FakeModelServer
    protocol_version = "HTTP/1.1"
    # Header and body are two packets. Without this the second one waits for 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        written = self.rfile.read(length)
        if len(written) < length:  # its client has cancelled the request while it was sent
            self.close_connection = True
            return
        body = json.loads(written or b"{}")
        call = Call(self.path, body, self.client_address[1], self.headers.get("X-Session-ID", ""))
        reply = self.fake._record(call)
        self.fake._closing.wait(reply.delay)
        while reply.gate and not (reply.gate.wait(0.05) or self.fake._closing.is_set()):
            pass
        with self.fake.slots:
            self._send(call, reply)

    def _send(self, call: Call, reply: Reply) -> None:
        if reply.hang_up or self.fake._closing.is_set():
            self._hang_up()
            return
        status, answer = self.fake._answer(call, reply)
        self.send_response(status)
        self.send_header("Retry-After", reply.retry_after)
        if isinstance(answer, list) and reply.raw is None:
            self._stream(answer, reply, sse=call.path.startswith("/v1/"))
            return
        data = json.dumps(answer).encode() if reply.raw is None else reply.raw
        streamed = data.startswith((b"data:", b"error:"))
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for piece in [data[i : i + 1] for i in range(len(data))] if reply.drip else [data]:
            self.wfile.write(piece)
            self.fake._closing.wait(reply.drip)

    def _stream(self, pieces: list[dict[str, Any]], reply: Reply, *, sse: bool) -> None:
        kind = "text/event-stream" if sse else "application/x-ndjson"
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(pieces):
            if number == reply.cut or self.fake._closing.is_set():
                self._hang_up()
                return
            line = json.dumps(piece)
            self._chunk(f"data: {line}\n\n" if sse else f"{line}\n")
            self.fake._closing.wait(reply.drip)
        if sse:
            self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
