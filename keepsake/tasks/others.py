"""Recognises lines of an answer that belong to somebody else: a model that goes on with the talk.

Models sometimes write the next line of another person, too: ``Tom: Two apples, please.``, or in the
form in which the game shows a line, ``Tom says, "Two apples, please."``. The names and the form
come from the scene, so it works in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from keepsake.archive.records import Memory
from keepsake.happening import Speech
from keepsake.language.perception import pattern
from keepsake.tasks.scene import Scene

LABEL = r"^[*_]{{0,2}}~?{}(?:\s*[(（][^()（）\n]{{1,40}}[)）])?[*_]{{0,2}}\s*[:：>]+[*_]{{0,2}}\s*"
"""The pattern of a name before a line: ``Mira:``, ``**Mira:**``, ``~Mira>``, ``Mira (curtly):``."""
_ROLES = ("User", "Human")
"""The names of the other side in chat templates and in the data that models are trained on."""
_QUOTE = "\"“„«「»‘'"
_MARKS = re.compile(f"[{_QUOTE}]")
_QUOTED = rf"[^{_QUOTE}]*[,:，：]?\s*[{_QUOTE}].*[{_QUOTE}”」]$"
"""What follows the beginning of a shown line: its words in quotation marks, up to the end."""


@dataclass(frozen=True, slots=True)
class OtherVoices:
    """The people whose lines an answer may not hold.

    Attributes:
        names: Their names.
        openings: The beginnings of their lines as the game shows them: ``Tom says``.
    """

    names: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()

    @classmethod
    def of_scene(cls, scene: Scene) -> OtherVoices:
        """Return those who are present, or have said something in the window."""
        speeches = [each for each in scene.window if _is_others_speech(each)]
        openings = (_opening(each.line, each.source) for each in speeches)
        names = [scene.partner, *scene.here, *(each.source for each in speeches), *_ROLES]
        return cls(
            tuple(_told_apart(names, scene.name)),
            tuple(_told_apart(openings, scene.name)),
        )

    def begin(self, line: str) -> bool:
        """Whether a line is one of theirs, or its beginning."""
        label = self.names and pattern(LABEL.format(_any_of(self.names)), re.I).match(line)
        shown = self.openings and pattern(_any_of(self.openings) + _QUOTED).match(line)
        return bool(label or shown)

    def may_begin(self, line: str) -> bool:
        """Whether the beginning of a line may become one of theirs."""
        text = line.lstrip("*_~").casefold()
        for name in map(str.casefold, self.names):
            rest = text.removeprefix(name).lstrip(" *_")
            if text.startswith(name) and (not rest or rest[0] in ":：>(（"):
                return True
        return text.startswith(tuple(map(str.casefold, self.openings)))


NOBODY_ELSE = OtherVoices()
"""Of a character who is alone."""


def _is_others_speech(memory: Memory) -> bool:
    return isinstance(memory.what, Speech) and not memory.is_own and bool(memory.source)


@lru_cache(maxsize=16_384)  # the windows of a hundred agents
def _opening(line: str, name: str) -> str:
    """Return the name and the word after it with which a line is shown; empty if there is none."""
    before = _MARKS.split(line, maxsplit=1)[0]
    rest = before.removeprefix(name).split()
    starts = before.startswith(name) and rest
    return f"{name} {rest[0].strip(',:')}" if starts else ""


def _told_apart(texts: Iterable[str], name: str) -> Iterable[str]:
    """Return each text once, without empty ones and the character's own name."""
    return (each for each in dict.fromkeys(texts) if each and each.casefold() != name.casefold())


def _any_of(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, texts))})"
