"""What the memory has to say by itself, where no model makes anything of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from keepsake.language.pronouns import said_to, turned
from keepsake.language.speech import SPEAKER, paired, tidy_speech
from keepsake.language.words import alike, lowered, telling
from keepsake.prompt.reply.context import (
    AGAIN,
    ANEW,
    NOT_SURE,
    OF_ITSELF,
    OF_THE_ASKER,
    ReplyContext,
)
from keepsake.prompt.reply.material import Sentence, SentenceOrigin, closed
from keepsake.prompt.reply.worth import AS_GOOD, Scored, may_be_of_same

LATER = "And later:"
"""What stands between two things that the same person said."""
_LONGEST = 300
_SECRET = re.compile(
    r"\b(?:secret(?:ly)?|hid(?:e|es|den)?|(?:nobody|no one) (?:must|may|else) know"
    r"|only \w+(?: \w+)? knows?|few know|does not know|alone knows|own up|unsigned|do not dare)\b",
    re.I,
)
_OWN = (SentenceOrigin.SELF, SentenceOrigin.TIE)
_FITTING = dict.fromkeys(_OWN, OF_ITSELF) | {SentenceOrigin.PARTNER: OF_THE_ASKER}
"""How something begins that may not be what was asked; with doubt where others told it."""
_YOU = re.compile(r"\byou", re.I)
_MANNER = re.compile(r"^I (?:speak|talk) (?:in|fast|slow|little|low|quick|soft|plain)", re.I)
"""How it speaks is told to a model, and to nobody who asks."""
_PROMISE = re.compile(r"^I promised(?P<to>[^:,]*), '(?P<words>.+)'$")
_RETOLD = re.compile(
    r"^(?:I (?:heard|saw) it myself|They say, and I have it from [^:]{1,48}|[^:]{1,48} tells me): "
    r"(?P<news>(?:(?P<who>[^:]{1,48}?) (?:told|said)\b[^:]{0,48}: )?(?P<words>.+))$"
)
"""How agents pass on what they saw or heard (:attr:`keepsake.books.hearsay.Rumour.words`)."""
_OPENER_WORDS = """
    you you're you've you'll you'd your my the a an it it's its this that these there they their
    he she his her we our in on at some somebody nobody and but so then because sorry
    guess also well still even
"""
_OPENERS = frozenset(_OPENER_WORDS.split())
"""Words that have a capital only where they begin a sentence."""


def from_memory(scene: ReplyContext, own_lines: Iterable[str]) -> str:
    """What the agent knows, said by itself: for when a model makes nothing of it.

    Returns:
        The best-ranked sentence, with the second one (:func:`_beside`) where there is one, pronouns
        adapted to the asker. Empty if no sentence is relevant.
    """
    if not scene.asks or not scene.knows:
        return ""
    best = scene.ranked[0]
    if not (said := told_by_itself(best.sentence, scene)):
        return ""
    if (other := _beside(scene)) is not None:
        said = _both(best.sentence, said, other.sentence, told_by_itself(other.sentence, scene))
    if any(alike(said, each) for each in scene.said):
        return ""
    own = list(own_lines)
    if not scene.is_doubted and not _said_before(said, own):
        return said
    fit = (f"{opening} {continued(said)}" for opening in _openings(said, best, scene, own))
    return next((each for each in fit if not _said_before(each, own)), "")


def leaves_out_later(answer: str, scene: ReplyContext) -> bool:
    """Whether an answer has no word of a later statement of the same person on the same thing.

    A later statement that shares no telling word with the best one is about something else.
    """
    if not (scene.asks and scene.knows) or (other := _beside(scene)) is None:
        return False
    best = scene.ranked[0].sentence
    if not _in_turn(best, other.sentence):
        return False
    first, then = sorted((best, other.sentence), key=lambda each: each.time)
    before, later = telling(first.bare), telling(then.bare)
    since = later - before
    return bool(since and later & before) and since.isdisjoint(telling(answer))


def _beside(scene: ReplyContext) -> Scored | None:
    """What is said beside the best sentence: the second, where that is worth nearly as much."""
    best, *others = scene.ranked
    other = next((s for s in others if not s.sentence.who or s.sentence.is_quoted), None)
    if other is None or other.worth < AS_GOOD * best.worth:
        return None
    said, more = (told_by_itself(each.sentence, scene) for each in (best, other))
    is_more = telling(more) - telling(said) and may_be_of_same(scene.words, best, other)
    return other if is_more and len(said + more) < _LONGEST else None


def _both(one: Sentence, said: str, other: Sentence, more: str) -> str:
    """Both, in the order in which one person told them: the later may have changed the earlier."""
    if not _in_turn(one, other):
        return f"{closed(said)} {more}"
    first, then = (said, more) if one.time < other.time else (more, said)
    return f"{closed(first)} {LATER} {continued(then)}"


def _in_turn(one: Sentence, other: Sentence) -> bool:
    """Whether one person said the one after the other."""
    quoted = one.is_quoted and other.is_quoted
    return quoted and one.who == other.who and one.time != other.time


def _openings(said: str, best: Scored, scene: ReplyContext, own: Sequence[str]) -> Sequence[str]:
    """What may stand before it, the fittest first."""
    if not scene.is_doubted:
        told = [turn.words for turn in scene.turns if not turn.who]
        return AGAIN if any(said in each or continued(said) in each for each in told) else ANEW
    fit = _FITTING.get(best.sentence.origin, NOT_SURE)
    used = {opening: i for i, line in enumerate(own) for opening in fit if opening in line}
    return sorted(fit, key=lambda opening: used.get(opening, -1))


def continued(said: str) -> str:
    """With a small letter, as it follows a colon, where the first word is no name."""
    first = said.split(maxsplit=1)[0].casefold().replace("’", "'")
    return f"{said[0].lower()}{said[1:]}" if first in _OPENERS else said


def told_by_itself(sentence: Sentence, scene: ReplyContext) -> str:
    """A sentence as the agent may say it to whoever asks; empty if it is to be kept."""
    if sentence.confided:
        return ""
    own = sentence.origin in _OWN
    if own and (_SECRET.search(sentence.text) or _MANNER.match(sentence.text)):
        return ""  # a model may keep a secret; a memory that answers by itself cannot
    who, text = sentence.who, sentence.text.replace('"', "'")  # double ones end a speech
    if news := _RETOLD.match(sentence.bare) if who else None:
        words = f"{who} told me so: {_retold(news, scene.partner)}"
    elif who == scene.partner:
        # What is no quotation tells what they did, in the agent's words; what has "you" in it
        # without being said to the agent meant somebody else.
        quoted = text.startswith(f"{who} told me") or not _YOU.search(sentence.bare)
        told = sentence.bare != sentence.text and quoted
        words = turned(sentence.bare) if told else said_to(text, who)
    else:
        # In their own words: a rule that told it of them would get some wrong.
        words = text.replace(f"{who} told {scene.partner},", f"{who} told you,", 1)
    # Not "I promised Tom: …", which reads as if Tom spoke.
    words = _PROMISE.sub(r"I promised\g<to> this: \g<words>", words)
    return paired(SPEAKER.sub("", tidy_speech(words)))


def _retold(news: re.Match[str], partner: str) -> str:
    """What was passed on, in the person of whom it tells."""
    first = news["who"]
    if not first:
        return said_to(news["news"], partner)
    told = turned(news["words"]) if first == partner else f"{first} said, '{news['words']}'"
    return continued(told)


def _said_before(said: str, own_lines: Iterable[str]) -> bool:
    return any(lowered(said) == lowered(line) for line in own_lines)
