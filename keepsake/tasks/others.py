"""Recognises lines of an answer that belong to somebody else: a model that goes on with the talk.

Models sometimes write the next line of another person, too: ``Tom: Two apples, please.``, or in the
form in which the game shows a line, ``Tom says, "Two apples, please."``. The names and the form
come from the scene, so it works in any language.

A name and a colon may also call the person to whom the agent speaks: ``Tom: the number is nought.``
A prompt that shows others' lines with such labels asks for no calls. In any other prompt, it is one
as long as the agent has said nothing that the person may answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from keepsake.archive.records import Memory
from keepsake.happening import Speech
from keepsake.language.perception import for_prompt, pattern
from keepsake.tasks.scene import Scene

LABEL = r"^[*_]{{0,2}}~?{}(?:\s*[(（][^()（）\n]{{1,40}}[)）])?[*_]{{0,2}}\s*[:：>]+[*_]{{0,2}}\s*"
"""The pattern of a name before a line: ``Mira:``, ``**Mira:**``, ``~Mira>``, ``Mira (curtly):``."""
_ROLES = ("User", "Human")
"""The names of the other side in chat templates and in the data that models are trained on."""
_QUOTE = "\"“„«「»‘'"
_MARKS = re.compile(f"[{_QUOTE}]")
_CALL = rf"^({{}})\s*[:：]\s*([^\s>{_QUOTE}].*)$"
"""A name and a colon before words without quotation marks: ``Tom: the number is nought.``"""
_QUOTED = rf"[^{_QUOTE}]*[,:，：]?\s*[{_QUOTE}].*[{_QUOTE}”」]$"
"""What follows the beginning of a shown line: its words in quotation marks, up to the end."""


@dataclass(frozen=True, slots=True)
class Call:
    """Words that begin with the name of the person to whom they are said.

    Attributes:
        name: The name.
        words: What follows it.
    """

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class OtherVoices:
    """The people whose lines an answer may not hold.

    Attributes:
        names: Their names.
        openings: The beginnings of their lines as the game shows them: ``Tom says``.
        callable: The names of those whom a line may call: ``Tom: the number is nought.``
        partner: The name of the person to whom plain lines are spoken; empty for nobody.
        awaits: Whether that person waits for an answer, and the model has not been asked for it
            again. An answer that begins with their name alone may go on with what they said.
        heard: What each of them has said in the window. A call does not repeat it.
    """

    names: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    callable: tuple[str, ...] = ()
    partner: str = ""
    awaits: bool = False
    heard: frozenset[str] = frozenset()

    @classmethod
    def of_scene(cls, scene: Scene, *, labelled: bool = True) -> OtherVoices:
        """Return those who are present, or have said something in the window.

        ``labelled``: Whether the prompt shows what others say behind their names: ``Tom: Hello.``
        """
        speeches = [each for each in scene.window if _is_others_speech(each)]
        openings = (_opening(each.line, each.source) for each in speeches)
        people = [scene.partner, *scene.here, *(each.source for each in speeches)]
        heard = (each.heard.words for each in speeches if each.heard is not None)
        return cls(
            tuple(_told_apart([*people, *_ROLES], scene.name)),
            tuple(_told_apart(openings, scene.name)),
            callable=() if labelled else tuple(_told_apart(people, scene.name)),
            partner=scene.partner,
            awaits=bool(scene.asked or scene.words) and not scene.refused,
            heard=frozenset(map(_comparable, heard)),
        )

    def call_in(self, line: str) -> Call | None:
        """Return the call with which a line begins; None if it is none, or repeats their words."""
        found = self.callable and pattern(_CALL.format(_any_of(self.callable)), re.I).match(line)
        if not found or _comparable(found[2]) in self.heard:
            return None
        name = next(each for each in self.callable if each.casefold() == found[1].casefold())
        return Call(name, found[2])

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


def _comparable(words: str) -> str:
    return for_prompt(words).casefold()


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
