"""When a promise is kept, a question answered, a rule taken back: the one judgement of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from game.mind.archive.records import Memory, MemoryKind
from game.mind.books.noticing import Noticed, NoticedKind, is_lasting
from game.mind.language import closing
from game.mind.language.heard import Utterance, heard, meant_for, names, own_words

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
    return tuple(item for item in open_items if _by_words(item, said, own_name))


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
    return (spoken_to or not item.who) and closing.done(item, own.words)


def _by_words(item: Noticed, said: Utterance, own_name: str) -> bool:
    mine = _is(said.who, item.who)
    fulfilled = item.kind is NoticedKind.PROMISE and not is_lasting(item.text)
    # Where it is not known to whom it was promised, thanks for that very thing say so.
    if fulfilled and (mine or not item.who) and closing.thanked(item, said.words):
        return True
    return mine and closing.taken_back(item, said.words, own_name)


def _handed_over(item: Noticed, gift: str) -> bool:
    given = _HANDED_OVER.match(gift.strip())
    if given is None or not (_is(given["who"], item.who) or not item.who):
        return False
    # "I will bring it over": whatever is handed to that person is what was meant.
    thing = closing.thing_of(item)
    return not thing or not thing.isdisjoint(closing.roots(given["thing"]))


def _is(name: str, who: str) -> bool:
    return bool(who) and name.strip().casefold() == who.casefold()
