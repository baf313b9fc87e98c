"""What somebody did as the game tells it, apart from what a player only plays in a pose.

``emote gives you a crown.`` reads like a gift and is none: whoever poses finds the words, and
the game only puts a name before them. Which of the two it was stands in
:attr:`keepsake.archive.records.Memory.event`; archives of before that was kept have only the
words.
"""

from __future__ import annotations

import re

from keepsake.archive.records import Memory, MemoryKind

GIVE, GET, DROP = "give", "get", "drop"
"""Kinds of messages, as in :attr:`keepsake.archive.records.Memory.event`."""
DEED, KINDNESS, WRONG = "deed", "kindness", "wrong"
"""A deed that the world's own rules tell of: seen, or done to the one who perceives it."""
RULED = frozenset({DEED, KINDNESS, WRONG})
LONGEST_THING = 60
"""Characters of what is handed over; what is longer is a tale."""

_GIVES_ME = re.compile(r" (?:gives|hands) you (?P<what>[^\n]+)")
_I_GIVE = re.compile(r"You (?:give|hand) (?P<what>.{1,120}?) to (?P<whom>[^.]{1,80})\.?$")
# What an old archive tells of may be a pose: a thing of few words and nothing else.
_THING = re.compile(r"(?:an?|the|some|\w{3,9}) [\w'’-]+(?: [\w'’-]+){0,4}")


def was(memory: Memory, event: str) -> bool:
    """Whether it may be a deed of that kind: it is one, or nobody kept what it was."""
    return memory.event in ("", event)


def given_to_me(memory: Memory) -> str:
    """The thing that somebody gave to the agent, ``a blue cup``; empty for no gift."""
    if memory.kind is not MemoryKind.PERCEPTION or not memory.source or not was(memory, GIVE):
        return ""
    # Only whoever caused the line gives: nobody does it in another's name.
    if not memory.text.startswith(memory.source):
        return ""
    given = _GIVES_ME.fullmatch(memory.text, len(memory.source))
    what = given["what"].rstrip(".") if given else ""
    is_thing = len(what) <= LONGEST_THING and (memory.event or _THING.fullmatch(what))
    return what if is_thing and any(map(str.isalnum, what)) else ""


def given_by_me(memory: Memory) -> tuple[str, str]:
    """The thing that the agent gave away, and to whom; both empty for no gift."""
    if memory.kind is not MemoryKind.RESULT or not was(memory, GIVE):
        return "", ""
    given = _I_GIVE.match(memory.text)
    return (given["what"], given["whom"].strip()) if given else ("", "")
