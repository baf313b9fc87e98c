"""How much a memory matters: quick rules, no model.

A memory counts as much as the weightiest thing in it, and a little more for each other one.
Rules give at most 9: what turned a life only the agent, or a model, can say. What somebody
says *about* how much it matters ("importance 10!") is no reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from keepsake.archive.records import SCENE, Memory, MemoryKind
from keepsake.books.journal.entries import LEAST, Importance
from keepsake.books.noticing import promises, questions, rules_in
from keepsake.language import deeds
from keepsake.language.heard import (
    LONGEST,
    Utterance,
    heard,
    is_greeting,
    meant_for,
    names,
    own_words,
)
from keepsake.recall.related import about_memory

BY_RULES_AT_MOST = 9
PROMISE, GIFT, RULE, STRANGER = "a promise", "a gift", "a rule given", "a stranger"
NAMED, TOLD, PLACE = "named me", "said to me", "first time here"
PERSONAL, SECRET, LIFE, STRONG = "of their life", "a secret", "life and death", "strong words"
HARM, BROKEN, ASKED = "harm or threat", "a broken word", "a question to me"
DEED = "a deed"
OWN_MEMORY, ROUTINE, GREETING = "own memory", "routine", "a greeting"
"""Reasons, as an entry of a journal gives them."""


@dataclass(frozen=True, slots=True)
class ImportanceContext:
    """What a memory alone does not tell."""

    met: bool = True
    been_here: bool = True


_USUAL = ImportanceContext()
_ROUTINE_SCORE, _PLAIN, _WITH_ME = 1, 2, 3

_KIN = (
    r"(?:brother|sister|mother|father|wife|husband|son|daughter|child(?:ren)?|family|uncle|aunt"
    r"|cousin|grand(?:mother|father|son|daughter)|friend|dog|cat|horse|house|home|farm|shop|mill"
    r"|name|birthday|job|work|trade|master)"
)
# In lower case.
_PERSONAL = re.compile(
    rf"\bmy (?:\w+ )?{_KIN}\b"
    r"|\bmy favou?rite\b"
    r"|\bi (?:work|live|lived|was born|grew up|come from|own|married|inherited|studied|moved"
    r"|used to|no longer|never liked|fear|prefer|miss|dream of|believe in"
    r"|(?:like|love|hate)(?! (?:it|this|that|you|your|how|when|what|the way)\b))\b"
    r"|\bi(?:'ve| have) (?:left|moved|become|found|lost|quit|sold|bought|given up|married)\b"
    r"|\bi(?:'m| am) (?:(?:no longer )?(?:a|an|the)(?! (?:bit|little|lot|one|same|moment)\b)"
    r"|from(?! here\b)|afraid(?= of\b)|married|engaged|pregnant|leaving|moving|called)\b"
)
_SECRET = re.compile(
    r"\bsecrets?\b|\bbetween (?:us|you and me)\b"
    r"|\b(?:nobody|no one) (?:else )?knows\b(?! (?:whose|why|how)\b)"
    r"|\bi(?:'ve| have)? never told\b|\bconfess|\bhidden (?:in|under|behind)\b"
)
_LIFE = re.compile(
    r"\b(?:died|dying|is dead|was killed|murder(?:ed)?|funeral|buried (?:my|our|his|her)"
    r"|(?:was|were|is) born|gave birth|pregnant|(?:got|getting|get) married|wedding|marry me"
    r"|drowned|burn(?:ed|t|ing) down(?! to\b)|(?:is|are) on fire|i love you|very ill"
    r"|the plague|at war)\b"
)
_HARM = re.compile(
    r"\b(?:kill you|hurt you|hate you|find you and|burn (?:your|this)|you(?:'ll| will) (?:regret"
    r"|pay for|be sorry)|liar|you lied|traitor|thief|stole|stolen|robbed|attack(?:s|ed)?"
    r"|shut up|you (?:idiot|fool|coward))\b"
)
_STRONG = re.compile(
    r"!!|\bfire!|\b(?:help me|emergency|danger|beware|urgent|terrible|horrible|wonderful"
    r"|never forget|most important|please forgive|forgive me|i(?:'m| am) (?:so )?sorry"
    r"|thank you (?:so much|for)|grateful|proud of|ashamed|heartbroken"
    r"|weeps?|sobs?|screams?|shouts?)\b"
)
_BROKEN = re.compile(
    r"(?<!never )(?<!not )\b(?:broke (?:my|your|his|her|the) (?:word|promise)"
    r"|(?:could|did)(?:n't| not) keep (?:my|your)"
    r"|forgot (?:to bring|my promise|what i promised)"
    r"|lost (?:your|the) \w+ you (?:gave|lent))\b"
)
_WEIGHTY = (
    (_LIFE, 8, LIFE),
    (_SECRET, 7, SECRET),
    (_BROKEN, 7, BROKEN),
    (_HARM, 7, HARM),
    (_PERSONAL, 6, PERSONAL),
    (_STRONG, 5, STRONG),
)
_MOVED = re.compile(
    r"\b(?:arrives?|leaves|enters|has (?:arrived|left)"
    r"|(?:walks|goes|comes|wanders) (?:in|out|off|away|north|south|east|west|up|down))\b"
)
_TO_ME = re.compile(r"\byou\b", re.I)


@lru_cache(maxsize=8192)
def importance(
    memory: Memory, own_name: str, circumstances: ImportanceContext = _USUAL
) -> Importance:
    """How much one memory matters, by what it says; quick, and known the second time.

    Returns:
        1 to 9, with the reasons, the weightiest first.
    """
    if about_memory(memory):
        return Importance(LEAST, reasons=(OWN_MEMORY,))
    if memory.event == SCENE:
        return Importance(LEAST, reasons=(ROUTINE,))
    if memory.kind is MemoryKind.ACT:
        return _of_act(memory)
    if memory.kind is MemoryKind.RESULT:
        return _of_result(memory, circumstances)
    return _of_perception(memory, own_name, circumstances)


def _of_act(memory: Memory) -> Importance:
    """What the agent did: only its words can matter, since a deed may still fail."""
    said = own_words(memory)
    if said is None:
        return Importance(LEAST, reasons=(ROUTINE,))
    if is_greeting(said.words):
        return Importance(LEAST, reasons=(GREETING,))
    return _together(_PLAIN, [*_promise(said.words), *_weighty(said.words, halved=True)])


def _of_result(memory: Memory, circumstances: ImportanceContext) -> Importance:
    """What came of it: a gift that was taken, a place never seen before."""
    text = memory.text[:LONGEST]
    found = [(6, GIFT)] if any(deeds.given_by_me(memory)) else []
    if not circumstances.been_here and not text.startswith("You tried"):
        found.append((4, PLACE))
    return _together(_ROUTINE_SCORE, found)


def _of_perception(memory: Memory, own_name: str, circumstances: ImportanceContext) -> Importance:
    if memory.importance:
        return Importance(memory.importance, reasons=(DEED,))
    said = heard(memory)
    found = [(4, PLACE)] if not circumstances.been_here else []
    if memory.source and not circumstances.met:
        found.append((5, STRANGER))
    if said is None:
        return _seen(memory, own_name, found)
    mine = meant_for(said, own_name)
    if is_greeting(said.words):
        return _together(_PLAIN if mine else _ROUTINE_SCORE, found, GREETING)
    return _together(_WITH_ME if mine else _PLAIN, [*_said(said, own_name, mine), *found])


def _seen(memory: Memory, own_name: str, found: list[tuple[int, str]]) -> Importance:
    """What happened without words."""
    text = memory.text[:LONGEST]
    if deeds.given_to_me(memory):
        return _together(_PLAIN, [(7, GIFT), *found])
    if not memory.source or (_MOVED.search(text) and not deeds.is_pose(memory)):
        return _together(_ROUTINE_SCORE, found)
    if _TO_ME.search(text) or names(text, own_name):
        found = [(4, NAMED), *found]
    return _together(_PLAIN, [*_weighty(text, halved=False), *found])


def _said(said: Utterance, own_name: str, mine: bool) -> list[tuple[int, str]]:
    """What makes it matter that this was said; less, if it was said to somebody else."""
    words, found = said.words, list[tuple[int, str]]()
    if mine or not said.to:
        if rules_in(words, own_name):
            found.append((7, RULE))
        found += _promise(words)
        if mine and questions(words):
            found.append((4, ASKED))
    found += _weighty(words, halved=bool(said.to) and not mine)
    if names(words, own_name):
        found.append((5, NAMED))
    elif mine:
        found.append((4, TOLD))
    return found


def _promise(words: str) -> list[tuple[int, str]]:
    return [(7, PROMISE)] if promises(words) else []


def _weighty(words: str, *, halved: bool) -> list[tuple[int, str]]:
    low = words.casefold().replace("’", "'")
    return [
        ((score + 1) // 2 if halved else score, why)
        for pattern, score, why in _WEIGHTY
        if pattern.search(low)
    ]


def _together(least: int, found: list[tuple[int, str]], usual: str = ROUTINE) -> Importance:
    """The weightiest of ``found``, and one more for two or more others beside it."""
    if not found:
        return Importance(least, reasons=(usual,))
    ranked = sorted(found, key=lambda each: -each[0])
    score = max(least, ranked[0][0]) + (len(ranked) > 1) + (len(ranked) > 3)
    return Importance(min(score, BY_RULES_AT_MOST), reasons=tuple(why for _, why in ranked[:3]))
