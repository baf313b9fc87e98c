"""A prompt made in the plain way, to hold the marked one against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from keepsake.tasks.talk_scene import TALK_VARIABLES, TalkScene
from keepsake.tasks.transcript import VARIABLES, variables

_NAMES = sorted(TALK_VARIABLES | VARIABLES - {"cursor"})
_OPEN = {name: chr(0xE000 + place) for place, name in enumerate(_NAMES)}
_CLOSE = "\uf8ff"
_ANY = re.compile(f"[{''.join(_OPEN.values())}{_CLOSE}]")


class _Value(str):
    __slots__ = ("name",)
    name: str

    def __str__(self) -> str:
        return f"{_OPEN[self.name]}{super().__str__()}{_CLOSE}"


def plain_prompt(source: str, scene: TalkScene, nudge: str) -> tuple[str, list[tuple[str, str]]]:
    """The text of a prompt and its lines with their sections."""
    values = {name: _valued(name, value) for name, value in variables(scene, nudge).items()}
    printed = _template(source).render(values).strip()
    text = _ANY.sub("", printed).rstrip()
    return text, list(zip(text.split("\n"), _sections(printed), strict=False))


@cache
def _template(source: str) -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    return environment.from_string(source)


def shipped() -> list[str]:
    """The templates that come with the game."""
    config = Path(__file__).parents[2] / "vault" / "config"
    return [path.read_text(encoding="utf-8") for path in sorted(config.glob("prompt*.md"))]


def _valued(name: str, value: object) -> object:
    if isinstance(value, str) and name in _OPEN:
        marked = _Value(value)
        marked.name = name
        return marked
    if isinstance(value, list):
        return [_valued(name, each) for each in value]
    if isinstance(value, dict):
        return {key: _valued(name, each) for key, each in value.items()}
    return value


def _sections(printed: str) -> Iterator[str]:
    names = {mark: name for name, mark in _OPEN.items()}
    inside = ""
    for line in printed.split("\n"):
        marks = _ANY.findall(line)
        telling = [
            mark for mark in marks if mark != _CLOSE and names[mark] not in ("name", "partner")
        ]
        first = inside or (telling[0] if telling else "")
        yield names.get(first, "frame")
        if marks:
            inside = "" if marks[-1] == _CLOSE else marks[-1]
