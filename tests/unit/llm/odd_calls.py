"""Calls to model servers that misbehave, and what such servers answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.ports import ChatMessage, Generation, GenerationRequest
from tests.fakes.odd_server import OddServer, Send

TALK = GenerationRequest(messages=(ChatMessage("user", "Who are you?"),), max_tokens=40)
ENDLESS = 60.0
"""Seconds after which a test fails in place of waiting: far more than a busy machine needs."""
END = b"data: [DONE]\n\n"
"""The last event of a stream."""


def asked(server: OddServer, request: GenerationRequest = TALK, **settings: Any) -> Generation:
    """Ask a model on this server, as OpenAI's protocol says."""
    profile = ModelProfile("agent", provider="openai", host=server.address, **settings)
    return OpenAIModel(profile).generate(request)


def asked_soon(call: Callable[[], Generation]) -> Future[Generation]:
    """Make a call in a thread that does not keep a failing test alive."""
    future: Future[Generation] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def sends(*pieces: bytes) -> Callable[[Send, threading.Event], None]:
    """Answer with these bytes, and close the connection."""

    def answer(send: Send, closing: threading.Event) -> None:
        for piece in pieces:
            send(piece)

    return answer


def holds(
    head: bytes, again: bytes = b"", pause: float = 0.01
) -> Callable[[Send, threading.Event], None]:
    """Answer with a beginning, then with the same bytes again and again, and never end."""

    def answer(send: Send, closing: threading.Event) -> None:
        send(head)
        while not closing.wait(pause):
            send(again)

    return answer
