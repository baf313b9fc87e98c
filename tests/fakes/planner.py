"""A stand-in for a model, for plumbing tests of plans: it does the next deed of a plan.

It reads the plans of a prompt and where the character is, and sees nothing else. It cannot talk, so
it says nothing of what it was told. For simulations by hand::

    python -m tests.fakes.planner --port 45001
    keepsake simulate two-days --agents 7 --hours 48 --measure --writer none \\
        --model ollama:fake@http://127.0.0.1:45001 --items tests/data/planned_items.yaml
"""

from __future__ import annotations

import json
import re
import threading
from typing import Annotated

import typer

from tests.fakes.model_server import FakeModelServer

CHAT_TEMPLATE = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"
"""The template by which the server says that its model is a chat model."""
WAIT = "> wait"
_DUE = re.compile(r"what you mean to do: (?P<number>\d+)\. (?P<plan>.+?) \([^()]*\)\. Do its next")
_PLAN = re.compile(r"^(?:user: )?\[You mean to: (?P<number>\d+)\. (?P<plan>.+)\]$", re.M)
_TO_DO = re.compile(r"^\[Still to do: (?P<plans>.+)\.\]$", re.M)
_PLACE = re.compile(r"^(?:user: )?\[(?:[^\n]*, )?\d\d:\d\d, (?P<place>[^.\n]+)\. Here: ", re.M)
_WHERE = re.compile(r"(?:^|, )at (?P<where>[^,:]+)")
_JSON = re.compile(r'Answer with JSON alone: \{"(\w+)"')
_SINCE = re.compile(r" \((?:begun|since memory \d+)\)")


def next_deed(prompt: str) -> str:
    """Return the next deed of the plan that is due; waiting if none is.

    A question outside the game is answered with the plans, and any other task with nothing.
    """
    if (task := _last(_JSON, prompt)) != "":
        return json.dumps({task: []})
    due = _DUE.search(prompt)
    if due is None:
        return _plans(prompt) if "Stranger says to you" in prompt else WAIT
    told = _known(prompt).get(due["number"], due["plan"])
    conditions, what = _halves(_SINCE.sub("", told))
    place = _last(_PLACE, prompt)
    where = _WHERE.search(conditions)
    if where is not None and where["where"].casefold() != place.casefold():
        return f"> walk to {where['where']}"
    return f"{what}\n> done {due['number']}"


def _plans(prompt: str) -> str:
    """Return the character's plans as words."""
    known = _known(prompt)
    numbers = re.findall(r"(?:^|; )(\d+)\. ", _last(_TO_DO, prompt))
    lines = [f"{number}. {_SINCE.sub('', known[number])}" for number in numbers]
    return f"I mean to do this: {'; '.join(lines)}." if lines else "I mean to do nothing."


def _known(prompt: str) -> dict[str, str]:
    """Return the plans that stand in a prompt, by number."""
    return {found["number"]: found["plan"] for found in _PLAN.finditer(prompt)}


def _halves(plan: str) -> tuple[str, str]:
    """Return the conditions of a plan, and what is to be done."""
    conditions, colon, what = plan.partition(": ")
    return (conditions, what) if colon else ("", plan)


def _last(wanted: re.Pattern[str], prompt: str) -> str:
    """Return the only group of the last match; empty if there is none."""
    found = wanted.findall(prompt)
    return found[-1] if found else ""


def planner(port: int = 0) -> FakeModelServer:
    """Return a server of the stand-in, with Ollama's API and OpenAI's."""
    server = FakeModelServer(port, script=next_deed)
    server.template = CHAT_TEMPLATE
    return server


def main(port: Annotated[int, typer.Option(help="The port on loopback.")] = 45_001) -> None:
    """Serve the stand-in until Ctrl-C."""
    with planner(port) as server:
        print(f"The stand-in answers at {server.address}, model {server.models[0]}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    typer.run(main)
