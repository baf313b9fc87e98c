"""What bears on an act among the memories that stood word for word in its prompt.

Some of it is known: the memories that the act rests on, and the open promises of its prompt. A
prompt holds a hundred memories besides, and the model does not say which it went by. Of those a few
are found that share most with the act and with its cause. That is a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from pathlib import Path

from keepsake.agent.turns.prompts.held import has_words_of
from keepsake.agent.why.basis import PromptSource, matter_of
from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory, memories_in
from keepsake.events.prompts import prompt_text
from keepsake.happening import Deed, KnownVerb, Result, addressees_of
from keepsake.json_lines import parsed
from keepsake.language.perception import telling

MOST = 3
"""The most memories that are guessed."""
_SHARED = 2
"""The telling words that a guessed memory shares at least: one is shared by chance."""
BEFORE = 6
"""The last memories before an act that are shown: what the agent had just perceived."""
MOST_PROMISES = 5
"""The most promises that are found, the newest."""
MOST_QUOTED = 3
"""The most quotations that are found."""
_WHO_IS_THERE = MOVES | {MessageType.LOGIN, MessageType.LOOK}
"""Types of messages that say who comes, goes or is there."""
_PROMISED = f'"verb":"{KnownVerb.PROMISE}"'.encode()
_MOST_BYTES = 16_000_000
"""The most bytes of the archive that are looked through, from its end."""


def just_before(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return the newest memories of the window, oldest first, without what set the act off; blocks.

    What set it off is one of several things that the act may answer.
    """
    if why.window is None:
        return ()
    first, last = why.window
    found = archive.read(max(first, last - BEFORE + 1), last)
    return [each for each in found if each.number != _cause(why)]


def _cause(why: Why) -> int:
    return why.cause.number if why.cause else 0


def resting_on(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return the other memories that an act rests on, oldest first; blocks.

    What set it off and what was recalled for it stand by themselves.
    """
    told = {_cause(why), *(each.memory.number for each in why.recalled if each.memory is not None)}
    numbers = sorted({*why.act.rests_on} - told)
    return [memory for number in numbers for memory in archive.read(number, number)]


def bearing_on(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return memories of the window that may bear on an act, the likeliest first; blocks.

    They share words with the act, its reason or what set it off; a word counts the more, the fewer
    memories of the window have it. Who came and went, what is known to bear on it, and whispers of
    which its prompt did not have the words are not among them.
    """
    if why.window is None:
        return ()
    first, last = why.window
    known = {_cause(why), *why.act.rests_on, *(why.masked or ())}
    known |= {each.memory.number for each in why.recalled if each.memory is not None}
    window = [each for each in archive.read(first, last) if each.number not in known]
    about = _about(why)
    shared = {each.number: about & telling(each.line) for each in window}
    rarity = Counter(stem for stems in shared.values() for stem in stems)

    def weight(memory: Memory) -> tuple[float, int]:
        return sum(1 / rarity[stem] for stem in shared[memory.number]), memory.number

    likely = (each for each in window if _tells(each) and len(shared[each.number]) >= _SHARED)
    return nlargest(MOST, likely, key=weight)


def recalled_for(why: Why) -> tuple[Sequence[PromptSource], int]:
    """Return what was recalled for an act, that which explains it first, and how much does.

    A search finds what is near the words that it answers. What is in the answer, and is not in
    these words or in the name of whom it answers, is what it may have from there.
    """
    said = {each.name for each in addressees_of(why.act.what)}
    known = telling(f"{' '.join(said)} {why.cause.text if why.cause else ''}")
    words = telling(f"{matter_of(why.act)} {why.reason}") - known
    shared = [len(words & telling(f"{each.title} {each.text}")) for each in why.recalled]
    order = sorted(range(len(shared)), key=lambda place: -shared[place])
    return [why.recalled[place] for place in order], sum(map(bool, shared))


def _about(why: Why) -> frozenset[str]:
    """Return the telling words of an act, its reason and what set it off."""
    return telling(f"{matter_of(why.act)} {why.reason} {why.cause.text if why.cause else ''}")


def _tells(memory: Memory) -> bool:
    """Whether a memory tells more than who came, who is there, or that an act was done."""
    return not isinstance(memory.what, Result) and memory.event not in _WHO_IS_THERE


def prompt_of(why: Why, log: Path) -> str:
    """Return the prompt of an act; empty if the event log does not have it; blocks.

    ``log``: The folder of the event log.
    """
    thought = why.thought
    return (prompt_text(log, thought.prompt, why.seq) if thought and thought.prompt else "") or ""


def quoted_in(archive: Archive, why: Why, prompt: str) -> Sequence[Memory]:
    """Return what a prompt quoted of those whom an act answers, from before its window; blocks.

    The agent's pages about them have it. Those quotations are returned that share words with the
    act or with what set it off, the likeliest first.
    """
    if not prompt or why.window is None:
        return ()
    people = {each.encode() for each in _people(why)}
    known = {_cause(why), *(each.memory.number for each in why.recalled if each.memory is not None)}
    names = " ".join((why.agent, *(each.name for each in addressees_of(why.act.what))))
    about = _about(why) - telling(names)
    found = []
    for line in lines_back(archive):
        if not any(each in line for each in people):
            continue
        for memory in memories_in([parsed(line)]):
            if memory.number >= why.window[0] or memory.number in known or memory.is_own:
                continue
            if has_words_of(prompt, memory):
                found.append((len(about & telling(memory.words)), memory.number, memory))
    best = nlargest(MOST_QUOTED, (each for each in found if each[0]))
    return [memory for _, _, memory in best]


def _people(why: Why) -> frozenset[str]:
    """Return the identities of those whom an act answers, or to whom it is done."""
    people = {each.id for each in addressees_of(why.act.what)}
    return frozenset(people | ({why.cause.source_id} if why.cause else set())) - {""}


def promises_in(archive: Archive, why: Why, prompt: str) -> Sequence[Memory]:
    """Return the promises of a prompt to those whom an act answers, the newest first; blocks.

    And those to others that share words with the act.
    """
    people = _people(why)
    about = _about(why)
    found = []
    for memory in _promises(archive) if prompt else ():
        if memory.number >= why.act.number or not isinstance(memory.what, Deed):
            continue
        words = " ".join(memory.what.objects)
        whom = {each.id for each in memory.what.to}
        bears = not whom.isdisjoint(people) or len(about & telling(words)) >= _SHARED
        if bears and words and words in prompt:
            found.append(memory)
    return found[:MOST_PROMISES]


def _promises(archive: Archive) -> Iterator[Memory]:
    """Yield the promises that an agent made, newest first."""
    for line in lines_back(archive):
        if _PROMISED in line:
            yield from (each for each in memories_in([parsed(line)]) if each.is_own)


def lines_back(archive: Archive) -> Iterator[bytes]:
    """Yield the newest lines of an archive, newest first."""
    left = _MOST_BYTES
    for line in archive.lines_back():
        left -= len(line)
        if left < 0:
            return
        yield line
