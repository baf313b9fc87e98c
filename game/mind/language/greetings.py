"""Tells a greeting from something that was said."""

from __future__ import annotations

import re

from game.mind.language.words import words as words_of

LONGEST = 160
"""Characters of a greeting; who says more has said something."""

# Alternatives without anything repeated around them: what players say must not cost more
# time than it is long.
_PHRASE = re.compile(
    r"\b(?:good (?:morning|day|evening|afternoon|night)|hello|hi|hey|greetings|farewell"
    r"|welcome(?: back)?|goodbye|bye|see you(?: (?:again|soon|later|tomorrow|there))?"
    r"|thanks?(?: you)?(?: (?:so|very) much)?|long time no see|did you miss me|me again"
    r"|here (?:i am|we are)(?: again| now)?|i(?:['’]m| am) (?:back|here)(?: again| now)?"
    r"|it(?:['’]s| is) (?:only |just )?me(?: again)?|back again|we meet again"
    r"|(?:nice|good|glad|lovely) to (?:see|meet) you(?: again)?"
    r"|how are you(?: (?:today|doing|now))?|how do you do)\b",
    re.I,
)


def is_greeting(words: str) -> bool:
    """Whether nothing but greetings is said, with a name or a word beside each."""
    if len(words) > LONGEST:
        return False
    rest, greetings = _PHRASE.subn(" ", words)
    return greetings > 0 and len(words_of(rest)) <= greetings
