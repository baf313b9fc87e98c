"""Tokens of thoughts at default settings: prompts, answers, and the share that a cache covers.

Days of the village are simulated with visitors and without. A fake server gives random answers of a
capable model. ``TOKENS_HOURS``, ``TOKENS_AGENTS`` and ``TOKENS_VISITORS`` set the size.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from game.simulation.plan import Lab
from keepsake.cli.simulate import folder_of
from keepsake.events.files import newest_first
from keepsake.language.tokens import Heuristic
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.bench.spoken_bench import ANSWERS, CHAT
from tests.fakes.model_server import FakeModelServer
from tests.slow.cli.conftest import make_copy

HOURS = os.environ.get("TOKENS_HOURS", "48")
AGENTS = os.environ.get("TOKENS_AGENTS", "5")
VISITORS = os.environ.get("TOKENS_VISITORS", "5")
WAITS = 0.3
"""The share of answers that do nothing."""
_CACHED = 4
"""The number of an agent's newest prompts in a server's cache."""
_ANSWERS = [each["answer"] for each in yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))]
_NUMBERED = re.compile(r"^(?:- )?\[?(\d+)[.\]] ?(.*)", re.M)
_LINE = re.compile(r"^.{30,}$", re.M)
_NAME = re.compile(r"(?<=[a-z,.] )[A-Z][a-z]+")
_VISITORS = yaml.safe_load((REPOSITORY / "game/simulation/people.yaml").read_text("utf-8"))[
    "visitors"
]
_SAID = re.compile(rf'"(?:{"|".join(_VISITORS.split())}) says to you, ')


@dataclass(frozen=True)
class _Village:
    """The model calls of a simulation, and its events."""

    thoughts: list[tuple[str, str]]  # prompts and answers
    others: list[tuple[str, str]]  # of summaries, journals, reflections, people's pages
    triggered: list[dict[str, Any]]  # events of thoughts with a trigger
    said: int  # lines of visitors


def measure() -> Iterator[Figure]:
    """Measure tokens of prompts and answers, and thoughts a day, with and without visitors."""
    of = Heuristic().of
    days = int(AGENTS) * float(HOURS) / 24
    busy = simulated(VISITORS)
    alone = simulated("0")
    late = busy.thoughts[len(busy.thoughts) // 2 :]  # prompts grow until there are summaries
    prompts, answers = zip(*((of(p), of(a)) for p, a in late), strict=True)
    spread = quantiles(prompts, n=10)
    same = 100 * _covered([p for p, _ in late])
    extra = len(busy.triggered) - len(alone.triggered)
    for name, value, unit in (
        ("prompt of a thought, mean", fmean(prompts), "tokens"),
        ("prompt of a thought, a tenth is shorter", spread[0], "tokens"),
        ("prompt of a thought, a tenth is longer", spread[8], "tokens"),
        ("share that begins as an earlier prompt", same, "%"),
        ("answer of a thought, mean", fmean(answers), "tokens"),
        ("thoughts a line of a visitor", extra / busy.said, ""),
        ("thoughts of an agent's day, nobody comes", len(alone.thoughts) / days, ""),
    ):
        yield Figure(f"tokens: {name}", len(late), value, unit)
    for village, who in ((busy, f"{VISITORS} visitors"), (alone, "nobody comes")):
        others = village.others
        prompt, answer = (sum(of(each[part]) for each in others) / days for part in (0, 1))
        name = f"tokens: summaries and nights of an agent's day, {who}"
        yield Figure(name, len(others), prompt, "tokens", f"{answer:,.0f} tokens written")


def simulated(visitors: str) -> _Village:
    """Simulate days of the village with this many visitors."""
    asked = list[tuple[str, str]]()

    def noted(prompt: str) -> str:
        answer = answer_to(prompt)
        asked.append((prompt, answer))
        return answer

    with (
        TemporaryDirectory(prefix="keepsake-tokens-") as folder,
        FakeModelServer(script=noted) as fake,
    ):
        copy = make_copy(Path(folder), KEEPSAKE_OPENAI_HOST=fake.address)
        size = ("--agents", AGENTS, "--visitors", visitors, "--hours", HOURS)
        command = [sys.executable, "-m", "keepsake", "simulate", "days", *size]
        command += ["--model", f"openai:fake@{fake.address}"]
        subprocess.run(command, cwd=REPOSITORY, env=copy.environ, check=True)
        events = [*newest_first(Lab(folder_of(copy.here, "days")).places.events)]
        archives = Lab(folder_of(copy.here, "days")).places.agents.glob("*/archive/*.jsonl")
        said = sum(len(_SAID.findall(path.read_text())) for path in archives)
        assert len(asked) == len(fake.calls(CHAT))
    thoughts = [each for each in asked if "\nYour deeds: " in each[0]]
    others = [each for each in asked if "\nYour deeds: " not in each[0]]
    triggered = [each for each in events if each.get("trigger", "idle") != "idle"]
    return _Village(thoughts, others, triggered, said)


def answer_to(prompt: str) -> str:
    """Return the fake model's answer: lines of the prompt, or one of the good answers."""
    dice = Random(prompt)
    turn = prompt[prompt.rfind("\nuser: ") :]
    if '{"entries"' in turn or '{"insights"' in turn:
        found = _NUMBERED.findall(turn)[:6]
        numbers = [int(number) for number, _ in found]
        entries = [{"text": t[-200:], "importance": 5, "memories": [int(n)]} for n, t in found]
        insight = {"text": found[0][1][-200:], "memories": numbers} if found else {}
        return json.dumps({"entries": entries, "insights": [insight] if found else []})
    if re.search(r"Write (?:your|one) (?:summary|paragraph)", turn):
        names = sorted(set(_NAME.findall(turn)))
        return f"I met {', '.join(names)}. {' '.join(_LINE.findall(turn)[:8])}"[:1100]
    return "> wait" if dice.random() < WAITS else dice.choice(_ANSWERS)


def _covered(prompts: list[str]) -> float:
    """Return the share of text that an earlier prompt of the same agent begins with."""
    seen = dict[str, deque[str]]()
    same = 0
    for prompt in prompts:
        before = seen.setdefault(prompt[:60], deque(maxlen=_CACHED))
        begins = (os.path.commonprefix([e, prompt]) for e in before)  # noqa: RUF071 - of texts
        same += max(map(len, begins), default=0)
        before.append(prompt)
    return same / sum(map(len, prompts))
