"""Memories as sentences of a summary: own acts in the first person, speech by sentence.

A summary without a model has one line for each thing, with its day and with who told whom::

    - 4 May: Ann told me, "I am Ann, a sailmaker from Harrow Bay."

The day stands where it changes. A line is read back as what it was made of, so that it survives
being summarised again as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import DAY, closed, sentences, short_day
from keepsake.prompt.tool_results import is_private_act, is_private_result

_LONGEST = 240
"""Characters of one sentence in a summary; a longer one is cut at a word."""

_ACT = re.compile(r"^~(?P<name>[^~<>]{1,40})>\s*(?P<verb>\S+)\s*(?P<rest>.*)$", re.S)
_SPEECH = re.compile(
    r"^(?P<who>[^\"“”,.!?]{1,60}?) (?P<how>says|said|say|asks|asked|ask|whispers|whispered|whisper"
    r"|shouts|shouted|replies|replied|answers|answered|told)"
    r"(?P<to> (?:to )?(?:me|you)| to [^\"“”,.!?]{1,40})?"
    r"\s*[,:]?\s*[\"“](?P<words>.*)[\"”]\s*(?P<after>\(repeated \d+×\))?$",
    re.S,
)
_PAST = {"say": "said", "ask": "asked", "whisper": "whispered", "shout": "shouted"} | {
    **{"reply": "replied", "replie": "replied", "answer": "answered"}
}
_DID = {"go": "went", "get": "took", "drop": "put down", "give": "gave", "look": "looked at"} | {
    "examine": "examined",
    "wait": "waited",
    "inventory": "looked through my things",
}
_REASON = re.compile(r"\s\|\s+\S.*$")
_DAY = re.compile(rf"^(?:- )?(?P<day>{DAY}): (?=\S)")
# Where a line came from, and how often: of use in a note, no words of anybody's.
_SOURCE = r"\((?:memor(?:y|ies) [\d\s,–-]+|repeated \d+×)\)"
_REFERENCE = re.compile(rf"(?<=[.!?…\"”’')])(?:\s*{_SOURCE}\.?)+|\s*{_SOURCE}")
_TOLD_ME = re.compile(r" (?:said|told) (?:to )?me$")


_NOISE = re.compile(
    r"^(?:you tried|i tried|exits?\b|you see\b|here:|also here|i looked|i waited|i went)"
    r"|(?:exits:|\b(?:arrives?|leaves|enters|has (?:arrived|left))\b[^,\"“]*\.?$)"
    r"|^\W*(?:hello|hi|hey|good (?:day|morning|evening|night)|welcome|thank|thanks|bye)\b"
    r"[^.!?]{0,30}[.!?\"”]*$",
    re.I,
)


def is_noise(sentence: str) -> bool:
    """Whether a sentence is a greeting, a coming or going, or a look around."""
    return _NOISE.search(sentence) is not None


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """One sentence of a summary."""

    words: str  # what was said or what happened, without the speaker
    speaker: str = ""  # ``Tom said``, ``I said``; empty if nobody speaks
    day: str = ""  # when, as in ``4 May``; empty where that is not known

    @property
    def own(self) -> bool:
        """Whether it is speech of the agent itself."""
        return self.speaker == "I" or self.speaker.startswith("I ")

    @property
    def teller(self) -> str:
        """The speaker as a line of a summary has it: ``Tom told me``, ``Tom asked me``."""
        asks = self.words.endswith("?")
        if asks and self.speaker == "I said":
            return "I asked"
        return _TOLD_ME.sub(" asked me" if asks else " told me", self.speaker)


def day_of(time: datetime) -> str:
    """The day of a line of a summary: ``4 May``."""
    local = time.astimezone()  # the machine's own time zone, as in the prompt
    return short_day(local)


def without_day(line: str) -> str:
    """A line of a summary without its list sign and its day."""
    return _DAY.sub("", line).removeprefix("- ")


@lru_cache(maxsize=4096)
def retell(text: str, own_name: str) -> tuple[ToldSentence, ...]:
    """The sentences of one memory, or of a summary; a compaction asks for each line four times.

    ``text``: ``Tom says, "…"``, ``~Mira> say …``, a room, a paragraph, or a line of a summary.
    """
    if act := _ACT.match(text):
        did = _REFERENCE.sub("", _REASON.sub("", act["rest"]))
        return tuple(_act(act["verb"].casefold(), did.strip()))
    dated = _DAY.match(text)
    plain = _REFERENCE.sub("", for_prompt(without_day(text), limit=100_000))
    found = [told for sentence in sentences(plain) for told in _one(sentence)]
    return tuple(replace(told, day=dated["day"]) for told in found) if dated else tuple(found)


def is_private(text: str) -> bool:
    """Whether a line is only a use of the own memory: a note, a search, what it brought.

    What stands in a note or was recalled would stand in a summary a second time.
    """
    if act := _ACT.match(text):
        return is_private_act(f"{act['verb']} {act['rest']}")
    return is_private_result(text)


def join(told: Iterable[ToldSentence]) -> str:
    """Sentences as a paragraph; what one speaker says in a row stands in one pair of quotes."""
    parts: list[str] = []
    speaker, speech = "", [""]
    for sentence in [*told, ToldSentence("")]:
        if speaker and sentence.speaker == speaker:
            speech.append(sentence.words)
            continue
        if speaker:
            parts.append(f'{speaker}, "{" ".join(speech)}"')
        speaker, speech = sentence.speaker, [sentence.words]
        if not speaker and sentence.words:
            parts.append(sentence.words)
    return " ".join(parts)


def day_in(line: str) -> str:
    """The day of a line of a summary; empty if it has none."""
    dated = _DAY.match(line)
    return dated["day"] if dated else ""


def as_list(lines: Iterable[str]) -> str:
    """Lines, each with its day, as a summary has them: the day stands where it changes."""
    written, before = [], ""
    for line in lines:
        day = day_in(line)
        written.append(f"- {without_day(line) if day == before else line}")
        before = day or before
    return "\n".join(written)


def as_line(told: Sequence[ToldSentence]) -> str:
    """Neighbouring sentences of one memory, by one speaker, as a line of a summary but its sign."""
    first = told[0]
    said = " ".join(each.words for each in told)
    day = f"{first.day}: " if first.day else ""
    return f'{day}{first.teller}, "{said}"' if first.speaker else f"{day}{said}"


def _one(sentence: str) -> list[ToldSentence]:
    """One sentence, with its speech taken apart and "you" outside of it told as "I"."""
    if speech := _SPEECH.match(sentence):
        who = "I" if speech["who"] in ("You", "I") else speech["who"]
        how = "said" if speech["how"] == "told" else speech["how"]
        to = speech["to"] or ""
        if to.endswith((" you", " me")):
            to = " me" if how.startswith("ask") else " to me"
        return _spoken(speech["words"], f"{who} {_PAST.get(how.removesuffix('s'), how)}{to}")
    return [ToldSentence(_closed(_first_person(sentence)))]


def _spoken(said: str, speaker: str) -> list[ToldSentence]:
    return [ToldSentence(_closed(s).replace('"', "'"), speaker) for s in sentences(said.strip())]


def _act(verb: str, rest: str) -> list[ToldSentence]:
    if verb in ("say", "shout", "ask"):
        return _spoken(rest, f"I {_PAST[verb]}")
    if verb == "whisper" and "=" in rest:
        name, _, said = (part.strip() for part in rest.partition("="))
        return _spoken(said, f"I whispered to {name}")
    if verb in ("emote", "pose"):
        first, _, others = rest.partition(" ")
        return [ToldSentence(_closed(f"I {_plain_form(first)} {others}".rstrip()))] if rest else []
    did = _DID.get(verb, f"did this: {verb}")
    if verb == "look" and not rest:
        did = "looked around"
    return [ToldSentence(_closed(f"I {did} {rest}".rstrip()))]


def _first_person(text: str) -> str:
    if '"' in text or "“" in text:
        return text
    text = re.sub(r"^You are\b", "I am", text)
    text = re.sub(r"^You\b", "I", text)
    return re.sub(r"\b(gives?|hands?|tells?|shows?|to|at|with|from) you\b", r"\1 me", text)


def _plain_form(verb: str) -> str:
    """``waves`` as it goes with "I": wave."""
    if re.search(r"(?:ss|sh|ch|x|o)es$", verb):
        return verb[:-2]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _closed(text: str) -> str:
    return closed(shorten(text.strip(), _LONGEST))
