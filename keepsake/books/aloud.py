"""What somebody said aloud that asks for a private plan or promise.

A plan that is made from a prompt with private words may hold them, and no comparison of words can
tell whether it does. So it is private. If it was asked for aloud, others may know what was said
aloud. They are shown that, word for word, and nothing that the agent wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepsake.language.perception import for_prompt, names, shorten

LONGEST_ALOUD = 400
"""The most characters of it: as many as a plan itself may have."""
ALOUD = rf"(?:, aloud in memory (?P<aloud>\d{{1,9}}): \"(?P<line>[^\"]{{1,{LONGEST_ALOUD}}})\")?"
"""The part of a pattern for a line of a file that :attr:`Aloud.fact` has written; see
:func:`aloud_in`."""
REQUESTED = "what was asked for: "
"""How a plan or promise begins that has somebody's words in the place of the agent's own."""
_ARTICLE = re.compile(r"^(?:the|a|an) ", re.I)
"""What a place's name may begin with, and is left out in talk: ``at your quay``."""


REQUESTED = "what was asked for: "
"""Begins what a plan says that has no words of its own, only what was said."""


@dataclass(frozen=True, slots=True)
class Aloud:
    """What was said aloud, as the agent perceived it.

    Attributes:
        number: The number of its memory.
        line: ``Tom says to you, 'Ask Bram for honey.'``; without double quotes.
    """

    number: int
    line: str

    @classmethod
    def of(cls, number: int, line: str) -> Aloud:
        """Return it in the form that files hold: one line, short, without double quotes."""
        return cls(number, shorten(for_prompt(line.replace('"', "'")), LONGEST_ALOUD))

    @property
    def fact(self) -> str:
        """It as a file says it, among the facts at the end of a line."""
        return f'aloud in memory {self.number}: "{self.line}"'

    @property
    def request(self) -> str:
        """It as a prompt shows it in the place of what a plan or a promise says."""
        return f"{REQUESTED}{self.line}"

    def names(self, name: str) -> bool:
        """Return whether it names a person or a place, with or without the place's article."""
        return names(self.line, name) or names(self.line, _ARTICLE.sub("", name))


def aloud_in(match: re.Match[str]) -> Aloud | None:
    """Return what a line of a file says was said aloud, from a match with :data:`ALOUD`."""
    return Aloud(int(match["aloud"]), match["line"]) if match["aloud"] else None
