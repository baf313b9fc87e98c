"""How well a small model says what its answer agreed to: walks, and messages to somebody.

``tests/data/agreeing_talks.csv`` has forty talks that name a place and forty that name somebody
elsewhere; in half of each the answer agrees. The model is the one that ``KEEPSAKE_OPENAI_HOST``
serves; without it nothing is measured. It is asked as a chat, and as a text to continue.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, SHIPPED_CONFIG
from keepsake.ports import GenerationRequest
from keepsake.tasks.questions.sent_to import SentTo
from keepsake.tasks.questions.setting_off import SettingOff
from keepsake.tasks.task_prompts import task_prompts
from tests.bench.figures import Figure
from tests.unit.mind.night_runner import Target

TALKS = REPOSITORY / "tests" / "data" / "agreeing_talks.csv"
_HOST = "KEEPSAKE_OPENAI_HOST"
_SECONDS = 300.0
"""The longest time of one answer: a small model on a busy machine reads ten tokens a second."""
_WHO = "Hilde"
_PARTNER = "Anneke"
_KINDS: Mapping[str, type[SettingOff | SentTo]] = {"walk": SettingOff, "errand": SentTo}


def measure() -> Iterator[Figure]:
    """Ask the served model about each talk."""
    host = os.environ.get(_HOST, "").rstrip("/").removesuffix("/v1")
    if not host:
        return
    with TALKS.open(encoding="utf-8", newline="") as file:
        talks = list(csv.DictReader(file))
    with httpx.Client(base_url=host, timeout=_SECONDS) as client:
        for form in ("chat", "text"):
            for kind in _KINDS:
                of_kind = [each for each in talks if each["kind"] == kind]
                found = Counter(_judged(client, each, chat=form == "chat") for each in of_kind)
                for what in ("right", "goes wrongly", "stays wrongly"):
                    yield Figure(f"{kind}, as {form}: {what}", len(of_kind), found[what], "talks")


def _judged(client: httpx.Client, talk: dict[str, str], *, chat: bool) -> str:
    """Return how the model judges a talk: ``right``, or what is wrong."""
    prompts = task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG)["agreed"].current
    asked = talk["words"]
    answer = talk["answer"]
    task = _KINDS[talk["kind"]](prompts, _WHO, _PARTNER, asked, answer, (talk["named"],))
    try:
        goes = bool(task.read(_answer(client, task.ask(Target(), ""), chat=chat)))
    except KeepsakeError:  # another answer: it stays
        goes = False
    if goes == (talk["goes"] == "yes"):
        return "right"
    return "goes wrongly" if goes else "stays wrongly"


def _answer(client: httpx.Client, request: GenerationRequest, *, chat: bool) -> str:
    body: dict[str, Any] = {
        "max_tokens": request.max_tokens,
        "temperature": 0.0,
        "stop": list(request.stop),
    }
    if chat:
        body["messages"] = [{"role": each.role, "content": each.text} for each in request.messages]
        choice = client.post("/v1/chat/completions", json=body).json()["choices"][0]
        return str(choice["message"]["content"])
    answer = client.post("/v1/completions", json={**body, "prompt": request.prompt}).json()
    return str(answer["choices"][0]["text"])
