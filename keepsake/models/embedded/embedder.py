"""The child process that embeds: MiniLM behind a pipe, with low priority.

    python -m keepsake.models.embedded.embedder

It reads requests from standard input, a JSON object a line, and answers on standard output: a JSON
line, then the numbers in single precision. Questions come before what an index asks for, which is
embedded some texts at a time. It ends when its input does: with whoever started it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import IO, Any

import numpy as np

from keepsake.errors import KeepsakeError
from keepsake.models.clients.minilm import MiniLMEmbedder

NICE = 5
"""As the other children: questions are waited for."""
SLICE = 8
"""Texts that a question may have to wait for."""


@dataclass(order=True, slots=True)
class Request:
    """Texts that are wanted, and the vectors of those that are done; compared by its turn."""

    later: bool  # after all that somebody waits for
    turn: int
    id: int = field(compare=False)
    texts: list[str] = field(compare=False)
    rows: list[Sequence[float]] = field(default_factory=list, compare=False)


type Waiting = queue.PriorityQueue[Request]


def main() -> int:
    """Embed until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    waiting: Waiting = queue.PriorityQueue()
    worker = threading.Thread(target=_work, args=(waiting, answers), daemon=True)
    worker.start()
    turns = count()
    for line in sys.stdin.buffer:
        asked: dict[str, Any] = json.loads(line)
        waiting.put(Request(asked["later"], next(turns), asked["id"], asked["texts"]))
    os._exit(0)  # nobody is left who could read what is being embedded


def _work(waiting: Waiting, answers: IO[bytes]) -> None:
    embedder = MiniLMEmbedder()
    while True:
        request = waiting.get()
        done = len(request.rows)
        try:
            request.rows += embedder.embed(request.texts[done : done + SLICE])
        except KeepsakeError as error:
            _answer(answers, {"id": request.id, "problem": error.what, "cure": error.cure})
            continue
        except Exception as error:  # whatever it was, the next texts may be sound
            _answer(answers, {"id": request.id, "fault": repr(error)})
            continue
        if len(request.rows) < len(request.texts):
            waiting.put(request)
        else:
            rows = np.asarray(request.rows, dtype="<f4").reshape(len(request.rows), -1)
            _answer(answers, {"id": request.id, "shape": rows.shape}, rows.tobytes())


def _answer(answers: IO[bytes], head: dict[str, Any], numbers: bytes = b"") -> None:
    try:
        answers.write(json.dumps(head).encode() + b"\n" + numbers)
        answers.flush()
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
