"""Regular expressions that hold a name, compiled once a name.

Python keeps only the last few hundred: with fifty agents, each pattern would be compiled
anew at every thought, which takes as long as the rest of the thought.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=8192)
def pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """``re.compile`` with a longer memory."""
    return re.compile(source, flags)


_OPENERS = (
    r"good (?:morning|day|evening)|hello|hi|hey|well(?: now| then)?|yes|no(?=\s*[,;:!.–—])|aye|ok"
    r"|okay|oh|ah|so|and|but|then|now|also|listen|look|actually|honestly|finally|at last|by the way"
    r"|please|thanks|sorry|these days|nowadays|today|yesterday|from (?:today|now)(?: on)?(?=,? I\b)"
    r"|(?:since|last|this) (?:week|month|year|night|morning|spring|summer|autumn|winter|\w+day)"
    r"|\w+ (?:days|weeks|months|years) ago|first|second|third|one (?:more )?thing|mind you|hear me"
    r"|mark my words|above all|most of all"
    r"|(?:did you know|you should know|I (?:should|must|have to) tell you)(?: that)?"
)
_CONDITION = r"(?:if|when|whenever|while|until|before|after|as long as|once) [^,;:]{2,80},"


def opening(own_name: str, *, condition: bool = False) -> re.Pattern[str]:
    """What may stand before what is meant: a greeting, a name, a time, a politeness."""
    name = rf"|{re.escape(own_name)}" if own_name else ""
    also = rf"|{_CONDITION}\s*" if condition else ""
    return pattern(rf"^['(\s]*(?:(?:(?:{_OPENERS}{name})\b[\s,:;!.–—-]*{also}))*", re.I)
