"""A fake model server that answers with talk, gestures and looks after a delay.

``python -m tests.bench.busy_model --delay 2 --hold FILE``: no answers while that file exists.
"""

from __future__ import annotations

import argparse
import itertools
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.bench.talk import talk
from tests.fakes.model_server import FakeModelServer

_CURSOR = re.compile(r"~\w+> ?$")
_ACTS = {
    "say {words}": 30,
    "emote counts {number} sacks of barley.": 32,
    "look": 22,
    "note Sacks {number}: There were {number} sacks when I looked.": 6,
    "wait": 10,
}
"""Commands, and how often in a hundred acts each is chosen."""


def only_once(words: str, number: int) -> str:
    """Return ``words`` made unique by a number, because people seldom repeat each other."""
    return f"{words[:-1]} by {number}{words[-1:]}"


def answerer(hold: Path, delay: float) -> Callable[[str], str]:
    """Return a function that answers a prompt after ``delay`` seconds, a quarter more or less."""
    random = Random(11)
    lock = threading.Lock()
    numbers = itertools.count(1)
    heard = (line.text.partition('"')[2].rstrip('"') for line in talk(random) if '"' in line.text)

    def answer(prompt: str) -> str:
        time.sleep(delay * Random().uniform(0.75, 1.25))
        while hold.exists():
            time.sleep(0.1)
        with lock:
            number = next(numbers)
            words = only_once(next(heard), number)
            if not _CURSOR.search(prompt):
                return f" {words}\n"
            (act,) = random.choices(list(_ACTS), list(_ACTS.values()))
            return f" {act.format(words=words, number=number)}\n"

    return answer


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=2.0)
    parser.add_argument("--hold", type=Path, required=True)
    given = parser.parse_args()
    print(FakeModelServer(script=answerer(given.hold, given.delay)).address, flush=True)
    threading.Event().wait()
