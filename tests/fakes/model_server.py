"""A model server over the wire that says what it is told to: Ollama's API and OpenAI's.

In a test::

    with FakeModelServer() as fake:
        fake.script = lambda prompt: " say Hello!"
        fake.plan("/api/generate", Reply(status=500), Reply(delay=3))
        ...                                   # clients talk to fake.address
        assert fake.calls("/api/generate")[0].body["raw"] is True

From another process::

    python -m tests.fakes.model_server --port 46000 --delay 0.5 --text " say hi" --record f.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import re
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

from keepsake.models.clients.capabilities import LLAMA_CPP_DEFAULT_TEMPLATE

DIMENSION = 16


@dataclass(frozen=True)
class Reply:
    """What to do with one request.

    Attributes:
        text: The answer's words; None for those of the script.
        status: The HTTP status.
        delay: Seconds before anything is sent.
        gate: Nothing is sent before it is set, however long that takes.
        raw: Sent as the body in place of what the protocol says.
        hang_up: Close the connection without an answer.
        drip: Seconds between the bytes of the body; 0 sends it at once.
        extra: Laid over the fields of the answer.
    """

    text: str | None = None
    status: int = 200
    delay: float = 0.0
    gate: threading.Event | None = None
    raw: bytes | None = None
    hang_up: bool = False
    drip: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One request as it came in.

    Attributes:
        time: Seconds since the epoch.
        port: The client's end of the connection that it came over.
    """

    method: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    time: float
    port: int


def default_script(prompt: str) -> str:
    """Answers the last line that somebody says; else waits."""
    heard = [line for line in prompt.splitlines() if ' says, "' in line]
    return f" say I hear you, {heard[-1].split(' says,')[0].split()[-1]}." if heard else " wait"


class FakeModelServer:
    """Serves on loopback, in threads, until :meth:`close`.

    Attributes:
        script: Makes the words of an answer from the prompt.
        delay: Seconds before every answer whose plan has none of its own.
        jitter: Seconds by which the delay may be shorter or longer.
        models: Names that ``/api/tags`` and ``/v1/models`` list.
        strict: Whether a model that is not listed is answered with 404.
        kind: What it is besides: ``llama.cpp``, ``vllm``, ``ollama``, or none that can be told.
        template: The model's chat template, as ``/props`` or ``/api/show`` shows it; without one
            it answers no messages.
        can: Ollama's list of what the model can.
        version: vLLM's.
        tokenizer: Whose ``/tokenize`` it has: ``llama.cpp``, ``old llama.cpp`` (one text a
            call), ``vllm``, or none.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        script: Callable[[str], str] = default_script,
        delay: float = 0.0,
        jitter: float = 0.0,
        models: Sequence[str] = ("fake",),
        strict: bool = True,
        record: Path | None = None,
    ) -> None:
        self.script = script
        self.delay = delay
        self.jitter = jitter
        self.models = list(models)
        self.strict = strict
        self.kind = ""
        self.template = ""
        self.can = ["completion"]
        self.version = "0.12.0"
        self.tokenizer = ""
        self.busy = self.most_busy = 0
        self._record = record
        self._calls: list[Call] = []
        self._plans: dict[str, deque[Reply]] = defaultdict(deque)
        self._always: dict[str, Reply] = {}
        self._random = Random(1)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def plan(self, path: str, *replies: Reply) -> None:
        """The next requests to ``path`` get these replies, in turn."""
        self._plans[path].extend(replies)

    def always(self, path: str, reply: Reply) -> None:
        """Every request to ``path`` without a plan gets this reply."""
        self._always[path] = reply

    def calls(self, path: str | None = None) -> list[Call]:
        """What came in, in order."""
        with self._lock:
            return [call for call in self._calls if path in (None, call.path)]

    def prompts(self) -> list[str]:
        """The prompts of all generations, in order."""
        return [call.body["prompt"] for call in self.calls() if "prompt" in call.body]

    def wait_for_calls(self, path: str, number: int, seconds: float = 60.0) -> list[Call]:
        """Wait until ``path`` was asked ``number`` times; fails when it never is."""
        deadline = time.monotonic() + seconds
        while len(calls := self.calls(path)) < number:
            assert time.monotonic() < deadline, f"{path} was asked {len(calls)} times"
            time.sleep(0.005)
        return calls

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> FakeModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _note(self, call: Call) -> Reply:
        with self._lock:
            self._calls.append(call)
            if self._record is not None:
                with self._record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(call), ensure_ascii=False) + "\n")
            planned = self._plans[call.path]
            if planned:
                return planned.popleft()
            delay = self.delay + self._random.uniform(-self.jitter, self.jitter)
            return self._always.get(call.path, Reply(delay=delay))

    def _count(self, step: int) -> None:
        with self._lock:
            self.busy += step
            self.most_busy = max(self.most_busy, self.busy)

    def _answer(self, call: Call, reply: Reply) -> tuple[int, dict[str, Any]]:
        if reply.status != 200:
            return reply.status, {"error": reply.text or f"planned {reply.status}"}
        model = str(call.body.get("model") or self.models[0])
        if self.strict and "model" in call.body and not self._has(model):
            return 404, {"error": f"model '{model}' not found"}
        speak = _ROUTES.get(call.path)
        if speak is None or not self._speaks(call.path):
            return 404, {"error": f"no such path {call.path}"}
        if refusal := self._refusal(call):
            return 400, {"error": refusal}
        try:
            return 200, speak(self, call.body, reply.text, model) | reply.extra
        except TypeError as error:
            return 400, {"error": str(error)}

    def _speaks(self, path: str) -> bool:
        if path == "/tokenize":
            return bool(self.tokenizer)
        only = {"/props": "llama.cpp", "/version": "vllm"}
        return self.kind == only.get(path, self.kind)

    def _refusal(self, call: Call) -> str:
        """What the real servers refuse with HTTP 400."""
        if call.path == "/v1/chat/completions" and not self.template:
            return "the model has no chat template"
        if call.path == "/api/chat" and "think" in call.body and "thinking" not in self.can:
            return f'"{self.models[0]}" does not support thinking'
        return ""

    def _has(self, model: str) -> bool:
        return model.removesuffix(":latest") in {m.removesuffix(":latest") for m in self.models}

    def _words(self, body: dict[str, Any], text: str | None, stops: Sequence[str]) -> str:
        words = self.script(_asked(body)) if text is None else text
        cuts = [words.index(stop) for stop in stops if stop in words]
        return words[: min(cuts)] if cuts else words

    def _generate(self, body: dict[str, Any], text: str | None, model: str) -> dict[str, Any]:
        words = self._words(body, text, body.get("options", {}).get("stop", ()))
        return {
            "model": model,
            "created_at": "2025-01-01T00:00:00Z",
            "response": words,
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": len(str(body.get("prompt", "")).split()),
            "eval_count": len(words.split()),
        }

    def _complete(self, body: dict[str, Any], text: str | None, model: str) -> dict[str, Any]:
        words = self._words(body, text, body.get("stop", ()))
        prompt = len(str(body.get("prompt", "")).split())
        used = {"prompt_tokens": prompt, "completion_tokens": len(words.split())}
        choice = {"index": 0, "text": words, "finish_reason": "stop"}
        return {"object": "text_completion", "model": model, "choices": [choice], "usage": used}

    def _chat(self, body: dict[str, Any], text: str | None, model: str) -> dict[str, Any]:
        answer = self._generate(body, text, model)
        answer["prompt_eval_count"] = len(_asked(body).split())
        answer["message"] = {"role": "assistant", "content": answer.pop("response")}
        return answer

    def _chat_complete(self, body: dict[str, Any], text: str | None, model: str) -> dict[str, Any]:
        answer = self._complete(body, text, model)
        answer["usage"]["prompt_tokens"] = len(_asked(body).split())
        (choice,) = answer["choices"]
        choice["message"] = {"role": "assistant", "content": choice.pop("text")}
        return answer | {"object": "chat.completion"}

    def _show(self, *_: object) -> dict[str, Any]:
        return {
            "template": self.template or "{{ .Prompt }}",
            "details": {"family": "fake"},
            "model_info": {},
            "capabilities": self.can,
        }

    def _props(self, *_: object) -> dict[str, Any]:
        # llama.cpp shows a template of its own for a model that has none.
        template = self.template or LLAMA_CPP_DEFAULT_TEMPLATE
        return {"default_generation_settings": {}, "build_info": "b1", "chat_template": template}

    def _version(self, *_: object) -> dict[str, Any]:
        return {"version": self.version}

    def _tags(self, *_: object) -> dict[str, Any]:
        return {"models": [{"model": name, "name": name} for name in self.models]}

    def _models(self, *_: object) -> dict[str, Any]:
        owner = {"llama.cpp": "llamacpp"}.get(self.kind, self.kind or "me")
        rows = [{"id": name, "owned_by": owner} for name in self.models]
        return {"object": "list", "data": rows}

    def _tokenize(self, body: dict[str, Any], *_: object) -> dict[str, Any]:
        if self.tokenizer == "vllm":
            found = tokens(body.get("prompt"))
            if body.get("add_special_tokens", True):
                found = [1, *found]
            return {"count": len(found), "max_model_len": 4096, "tokens": found}
        content = body.get("content", "")
        if isinstance(content, str) or self.tokenizer == "old llama.cpp":
            return {"tokens": tokens(content)}
        parts = [[part] if isinstance(part, int) else tokens(part) for part in content]
        return {"tokens": [number for part in parts for number in part]}

    def _embed(self, body: dict[str, Any], _text: str | None, model: str) -> dict[str, Any]:
        return {"model": model, "embeddings": [vector(each) for each in _texts(body)]}

    def _embeddings(self, body: dict[str, Any], _text: str | None, model: str) -> dict[str, Any]:
        rows = [{"index": i, "embedding": vector(t)} for i, t in enumerate(_texts(body))]
        # Out of order, as the protocol allows.
        return {"object": "list", "model": model, "data": rows[::-1]}


_ROUTES: dict[str, Callable[..., dict[str, Any]]] = {
    "/api/generate": FakeModelServer._generate,
    "/api/chat": FakeModelServer._chat,
    "/api/show": FakeModelServer._show,
    "/api/tags": FakeModelServer._tags,
    "/api/embed": FakeModelServer._embed,
    "/v1/completions": FakeModelServer._complete,
    "/v1/chat/completions": FakeModelServer._chat_complete,
    "/v1/models": FakeModelServer._models,
    "/props": FakeModelServer._props,
    "/version": FakeModelServer._version,
    "/v1/embeddings": FakeModelServer._embeddings,
    "/tokenize": FakeModelServer._tokenize,
}


def _asked(body: dict[str, Any]) -> str:
    """The prompt, or the messages as lines."""
    said = [f"{each['role']}: {each['content']}" for each in body.get("messages", ())]
    return "\n".join(said) or str(body.get("prompt", ""))


def tokens(text: Any) -> list[int]:
    """A number for each word, sign and line end of the text."""
    if not isinstance(text, str):
        raise TypeError(f"a text is wanted, not {type(text).__name__}")
    return [100 + len(piece) for piece in re.findall(r"\w+|[^\w\s]|\n", text)]


def vector(text: str) -> list[float]:
    """A unit vector of the text's words: texts that share words lie close."""
    total = [0.0] * DIMENSION
    for word in text.lower().split():
        total[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    length = math.hypot(*total) or 1.0
    return [value / length for value in total]


def _texts(body: dict[str, Any]) -> list[str]:
    given = body.get("input", [])
    return [given] if isinstance(given, str) else list(given)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is no news."""


def _handler(fake: FakeModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body go out as two packets; without this the second waits 40 ms.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def log_message(self, *_: object) -> None:
            pass

        def _handle(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            headers, port = dict(self.headers), self.client_address[1]
            call = Call(self.command, self.path, body, headers, time.time(), port)
            reply = fake._note(call)
            fake._count(+1)
            try:
                fake._closing.wait(reply.delay)
                while reply.gate and not (reply.gate.wait(0.05) or fake._closing.is_set()):
                    pass
                self._send(call, reply)
            finally:
                fake._count(-1)

        def _send(self, call: Call, reply: Reply) -> None:
            if reply.hang_up or fake._closing.is_set():
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, answer = fake._answer(call, reply)
            data = json.dumps(answer).encode() if reply.raw is None else reply.raw
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for piece in _pieces(data, reply.drip):
                self.wfile.write(piece)
                fake._closing.wait(reply.drip)

    return Handler


def _pieces(data: bytes, drip: float) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))] if drip else [data]


def _numbered(text: str) -> Callable[[str], str]:
    numbers = itertools.count(1)
    return lambda _: text.replace("{n}", str(next(numbers)))


def main() -> None:
    """Serve until killed; prints the address once it listens."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--jitter", type=float, default=0.0, help="by how much it may vary")
    parser.add_argument("--text", help="say this; {n} is the number of the call")
    parser.add_argument("--record", type=Path, help="append each request to this file")
    parser.add_argument("--model", action="append", help="a model that is there; default: any")
    given = parser.parse_args()
    fake = FakeModelServer(
        given.port,
        script=default_script if given.text is None else _numbered(given.text),
        delay=given.delay,
        jitter=given.jitter,
        models=given.model or ["fake"],
        strict=bool(given.model),
        record=given.record,
    )
    print(fake.address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
