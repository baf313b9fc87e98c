"""A model that tells everybody everything: it repeats the marks of its prompt in every way it has.

Each line of a player has a mark, a word that is only in this line. The model knows no privacy: in
what it says, does, notes, plans and promises, it repeats marks that its prompt holds. So a whisper
reaches somebody else as soon as one prompt shows it that should not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from random import Random

from tests.slow.soak.players import MARK

_NEWEST = 6
"""Marks at the end of a prompt from which some are repeated: what is private stands there."""
_SUMMARY = "Write your summary"
"""What the prompts for summaries say at their end."""
_WAYS = (
    "It was {mark}, I tell you.",
    "> say It was {mark}.",
    "> talk {name} = They say it was {mark}.",
    "> whisper {name} = Between us: it was {mark}.",
    "*points at {mark}*",
    "> emote shows everybody {mark}.",
    "> note things: {mark}",
    "> pin {mark}",
    "> remember {mark}",
    "> recall {mark}",
    "> promise {name}: to tell of {mark}",
    "> plan now: tell {name} of {mark}",
    "> plan in 1 minute, {name}: tell {name} of {mark}",
    "> done {mark}",
    "> cancel {mark}: it is known",
    "> walk to where {mark} is",
    "> walk to {name}",
    "> wait",
)


def telling(seed: int, names: Collection[str]) -> Callable[[str], str]:
    """Return a script for a fake model server; any thread may call it.

    ``names``: Of players and agents, to whom it tells what it knows.
    """
    dice = Random(f"model {seed}")
    known = sorted(names)
    lock = threading.Lock()

    def answer(prompt: str) -> str:
        marks = MARK.findall(prompt)
        if _SUMMARY in prompt:
            there = [name for name in known if name in prompt]
            return f"I know {', '.join(there) or 'nobody'}. I was told of {', '.join(marks[-30:])}."
        with lock:
            lines = dice.sample(_WAYS, dice.randint(1, 3))
            mark = dice.choice(marks[-_NEWEST:] or ["nothing"])
            name = dice.choice(known)
        return "\n".join(line.format(mark=mark, name=name) for line in lines)

    return answer
