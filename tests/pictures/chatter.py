"""Small talk at the inn: each line is said once, so that no page repeats itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

_THINGS = (
    "the ferry",
    "the church clock",
    "the road from Ostrey",
    "the herring",
    "the fog",
    "the old pump",
    "the miller's daughter",
    "the lamp on the point",
    "the apple cart",
    "the baker's dog",
    "the salt pans",
    "the schoolmaster",
)
_REMARKS = (
    "They told me about {} on the way here.",
    "My father never spoke of {} without his hat on.",
    "I dreamt of {} last night, and of rain.",
    "In Hallum nobody would mind {}.",
    "Somebody should write a song about {}.",
    "I have walked past {} twice now, and looked twice.",
    "What would this village be without {}?",
    "I drew {} in my book this morning.",
    "There is a letter about {} at the office, I hear.",
    "I asked a boy about {}, and he ran.",
    "Does anybody here dislike {}?",
    "I could listen to you about {} all evening.",
)
ANSWERS = (
    "Aye, and it was worse in my mother's day.",
    "That is what the last guest said, word for word.",
    "You'll get used to it, as one does to herring.",
    "Ask Oswin; he has an opinion, and it ticks.",
    "Not in this kitchen, and not before supper.",
    "Then you have seen more of it than I have.",
    "I'd believe half of that, and salt it.",
    "Eat first. It keeps till after the soup.",
    "So they say on the other shore, too.",
)


def lines() -> Iterator[str]:
    """Yield lines of small talk, none twice."""
    # Neighbours differ in both their parts.
    for turn, place in product(range(len(_THINGS)), range(len(_REMARKS))):
        yield _REMARKS[place].format(_THINGS[(place + turn) % len(_THINGS)])
