"""Whom an English question is about: the one who asks, the one who is asked, or anybody.

A small model takes a recalled line in the first person for its own: asked "Have you a dog?", it
says that it has the dog of which the asker once told. Six ways to mark the line did not help, and
such a model cannot say whom a question is about. So the pronouns decide which lines it is shown. A
question without such a pronoun, or in another language, is about anybody.
"""

from __future__ import annotations

import re
from enum import StrEnum

_OF_YOU = "are|were|do|did|have|had|will|would|can|could"
"""Verbs that begin a question about the one who is asked: "Can you …?"."""
_OF_ME = "am|was|do|did|have|had"
"""Verbs that begin a question about the one who asks. Not "can" and "should": "Where can I find a
boat?" is about anybody."""
_KNOWING = "know|remember|recall|hear|heard|think|tell|say|see|seen|guess|believe|mean|find|ask"
"""Verbs of knowing, which do not make a question one about the person: "Do you know when …?"."""
_ABOUT_ASKED = re.compile(
    rf"\b(?:{_OF_YOU}) (?:not )?you\b(?! (?:\w+ )?(?:{_KNOWING})\b)|\byour(?:s|self)?\b", re.I
)
_ABOUT_ASKER = re.compile(rf"\b(?:{_OF_ME}) i\b", re.I)


class Whom(StrEnum):
    """Whom a question is about."""

    ASKER = "asker"
    ASKED = "asked"
    ANYBODY = "anybody"


def about_whom(question: str) -> Whom:
    """Return whom a question is about, by its pronouns."""
    if _ABOUT_ASKER.search(question):
        return Whom.ASKER
    return Whom.ASKED if _ABOUT_ASKED.search(question) else Whom.ANYBODY
