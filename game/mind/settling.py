"""When a promise is kept, a question answered, a rule taken back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from game.mind.heard import Utterance, heard, meant_for, names, own_words
from game.mind.noticing import Noticed, NoticedKind, is_lasting
from game.mind.records import Memory, MemoryKind
from game.mind.words import telling

_HERE_IT_IS = re.compile(
    r"\b(?:here (?:is|are|it is|you are|they are)|as (?:I )?promised|I promised you|there you are"
    r"|I(?:['’]ve| have)? (?:brought|kept|made|mended|asked|fetched|found|done)|it is done)\b",
    re.I,
)
_THANKS = re.compile(r"\b(?:thank(?:s| you)|much obliged|bless you)\b", re.I)
_TAKEN_BACK = re.compile(
    r"\b(?:never mind (?:about )?(?:the|what|that|my)"
    r"|forget (?:about )?(?:the|what I (?:said|told|asked))"
    r"|you (?:need not|needn['’]t|don['’]t (?:have|need) to)|no (?:longer )?need\b|it is fine now"
    r"|you (?:may|can) .{1,80} (?:again|now)\b|no longer (?:have|need) to)",
    re.I,
)
_HANDED_OVER = re.compile(r"^(?P<thing>.+) to (?P<who>[^=]+)$")


def settled(
    items: Iterable[Noticed], memory: Memory, own_name: str, to: str = ""
) -> tuple[Noticed, ...]:
    """Those of ``items`` that ``memory`` closes.

    A question closes when the agent speaks to whoever asked it. A promise closes when the
    agent hands over what it was about, says that it is done, or is thanked for it by that
    person. What a person asked or told, that person can take back, and nobody else.

    Args:
        items: What is open.
        memory: What happened.
        own_name: The agent's name.
        to: Whom the agent speaks to, for what it says without naming anybody.
    """
    open_items = [item for item in items if item.number < memory.number]
    if not open_items:
        return ()
    if memory.kind is MemoryKind.ACT:
        return tuple(item for item in open_items if _by_act(item, memory, to))
    said = heard(memory)
    if said is None or not meant_for(said, own_name):
        return ()
    return tuple(item for item in open_items if _by_words(item, said))


def _by_act(item: Noticed, act: Memory, to: str) -> bool:
    if item.kind is NoticedKind.PROMISE and act.text.startswith("give "):
        return not is_lasting(item.text) and _handed_over(item, act.text[len("give ") :])
    own = own_words(act)
    if own is None:
        return False
    spoken_to = _is(own.to or to, item.who) or names(own.words, item.who)
    if item.kind is NoticedKind.QUESTION:
        return spoken_to
    if item.kind is NoticedKind.RULE or is_lasting(item.text):
        return False
    done = _HERE_IT_IS.search(own.words) is not None
    return done and (spoken_to or not item.who) and _shares(item, own.words)


def _by_words(item: Noticed, said: Utterance) -> bool:
    if not _is(said.who, item.who):
        return False
    if item.kind is NoticedKind.PROMISE and not is_lasting(item.text):
        over = _THANKS.search(said.words) or _TAKEN_BACK.search(said.words)
    else:
        over = _TAKEN_BACK.search(said.words)
    return over is not None and _shares(item, said.words)


def _handed_over(item: Noticed, gift: str) -> bool:
    given = _HANDED_OVER.match(gift.strip())
    if given is None or not (_is(given["who"], item.who) or not item.who):
        return False
    return _shares(item, given["thing"])


def _shares(item: Noticed, words: str) -> bool:
    """Whether both speak of one thing: a telling word in common, names aside."""
    return bool((telling(item.text) - telling(item.who)) & telling(words))


def _is(name: str, who: str) -> bool:
    return bool(who) and name.strip().casefold() == who.casefold()
