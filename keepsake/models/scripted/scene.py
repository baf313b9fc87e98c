"""What the scripted model reads out of a prompt: who is there, and what has just happened."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CURSOR = re.compile(r"^~(?P<name>[^<>~\n]{1,40})>[ \t]*$")
_SAID = re.compile(
    r'^(?P<who>[A-Z][\w\'’-]*) (?:says|asks|shouts|whispers)(?P<to> to you)?, "(?P<words>.+)"$'
)
_GAVE = re.compile(r"^(?P<who>[A-Z][\w'’-]*) gives you (?P<thing>.+?)\.?$")
_CAME = re.compile(
    r"^(?P<who>[A-Z][\w'’-]*) (?:arrives|has entered the game|comes|enters|walks in)\b"
)
_TOOK = re.compile(r"^You (?:pick up|get|take) (?:the |a |an )?(?P<thing>.+?)\.?$")
_PARTED = re.compile(r"^You (?:drop|give) (?:the |a |an )?(?P<thing>.+?)(?: to [A-Z][\w'’-]*)?\.?$")
_RECALLED = re.compile(r"^You (?:recall|remember|called back|search your memory)\b", re.I)
_EXITS, _HERE, _ASLEEP = "Exits: ", "Also here: ", " (asleep)"
_OWN_LATELY = 6
_LATELY = 60
"""Lines of the window that are read."""


@dataclass(frozen=True, slots=True)
class SceneUtterance:
    """Something that somebody said."""

    who: str
    words: str
    to_me: bool


@dataclass(frozen=True, slots=True)
class PromptScene:
    """A prompt, as far as the scripted model understands it."""

    name: str  # whose turn it is
    exits: tuple[str, ...] = ()  # the exits
    people: tuple[str, ...] = ()  # who is there and awake
    things: tuple[str, ...] = ()  # what lies there
    said: tuple[SceneUtterance, ...] = ()  # what was said since it last did something, oldest first
    came: tuple[str, ...] = ()  # who has come since then
    gave: tuple[tuple[str, str], ...] = ()  # who gave it what since then: pairs of name and thing
    holds: tuple[str, ...] = ()  # things that it has taken or was given lately, and not parted with
    looked_up: bool = False  # whether it has just looked into its memory
    nudged: bool = False  # whether its last answer was refused
    # the last things that it did, as commands: nobody does the same again at once
    lately: tuple[str, ...] = ()


def read(prompt: str) -> PromptScene | None:
    """The scene of a prompt; None for one that is no thought of an agent."""
    lines = prompt.rstrip().split("\n")
    turn = _CURSOR.match(lines[-1])
    if turn is None:
        return None
    name, own = turn["name"], f"~{turn['name']}>"
    here = _listed(lines, _HERE)
    window = _window(lines[:-1])
    last = max((n for n, line in enumerate(window) if line.startswith(own)), default=-1)
    new = window[last + 1 :]
    awake = [each for each in here if not each.endswith(_ASLEEP)]
    return PromptScene(
        name=name,
        exits=_listed(lines, _EXITS),
        people=tuple(each for each in awake if each[:1].isupper()),
        things=tuple(each for each in awake if not each[:1].isupper()),
        said=tuple(
            SceneUtterance(found["who"], found["words"], bool(found["to"]))
            for line in new
            if (found := _SAID.match(line)) and found["who"] != name
        ),
        came=tuple(found["who"] for line in new if (found := _CAME.match(line))),
        gave=tuple((found["who"], found["thing"]) for line in new if (found := _GAVE.match(line))),
        holds=_held(window),
        looked_up=any(map(_RECALLED.match, new)),
        nudged=len(lines) > 1 and lines[-2].startswith("You ") and _HERE not in lines[-2],
        lately=tuple(
            line.removeprefix(own).partition(" | ")[0].strip()
            for line in window
            if line.startswith(own)
        )[-_OWN_LATELY:],
    )


def _window(lines: list[str]) -> list[str]:
    """The newest lines of the script: those before the last mark that ends it."""
    marks = [number for number, line in enumerate(lines) if line == "---"]
    return lines[: marks[-1] if marks else len(lines)][-_LATELY:]


def _listed(lines: list[str], head: str) -> tuple[str, ...]:
    line = next((each for each in reversed(lines) if each.startswith(head)), head)
    named = line.removeprefix(head).split(", ")
    return tuple(each for each in named if each and each not in ("none", "nobody"))


def _held(window: list[str]) -> tuple[str, ...]:
    held: dict[str, None] = {}
    for line in window:
        if found := _TOOK.match(line) or _GAVE.match(line):
            held[found["thing"].removeprefix("a ").removeprefix("an ").removeprefix("the ")] = None
        elif found := _PARTED.match(line):
            held.pop(found["thing"], None)
    return tuple(held)
