"""An executor whose calls a test ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class Hand(Executor):
    """Calls begin when they are submitted and end when the test ends them."""

    def __init__(self) -> None:
        self.running: dict[str, tuple[Future[Any], Callable[[], Any]]] = {}
        self.started: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        prompt = args[0].prompt
        self.started.append(prompt)
        self.running[prompt] = (future, lambda: fn(*args))
        return future

    def end(self, prompt: str) -> None:
        future, call = self.running.pop(prompt)
        try:
            future.set_result(call())
        except Exception as error:  # what the call raised is what the future carries
            future.set_exception(error)
