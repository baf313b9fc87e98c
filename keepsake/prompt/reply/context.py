"""What a reply is made from."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.language.heard import is_greeting
from keepsake.language.patterns import opening
from keepsake.language.questions import is_question, wants_agreement
from keepsake.prompt.reply.material import Sentence, SentenceOrigin
from keepsake.prompt.reply.turns import TalkTurn
from keepsake.prompt.reply.worth import Scored, asks_for_a_kind, is_of_asker

TO_THE_POINT, OF_ASKER = 0.25, 0.15
"""From this worth on a sentence may answer the question: every second one does. Below it are small
talk and what nobody told. The second holds for what the asker said of their own life, where
they ask about that."""
DOUBTED, DOUBTED_OF_A_KIND = 0.3, 0.6
"""Below this it is told as something that is not certain. The second holds where a time, a number,
a name or a place is asked for: of these three of five are right below it, of all else above the
first four of five."""
AGAIN = ("As I said:", "I told you:", "Well:", "Once more:")
"""What an agent begins with where it says the same again to the same person."""
ANEW = ("Well:", "Let me think:", "So far as I know:", "I'd say:")
"""What it begins with where it has said so to somebody else."""
NOT_SURE = (
    "I'm not sure. I only know this:",
    "I couldn't swear to it. What I know is this:",
    "I may be wrong. All I know is this:",
    "I don't rightly know. I can only tell you this:",
)
"""What it begins with where it may not be what was asked: each in its turn."""
OF_ITSELF = (
    "I can't tell you more than this:",
    "More than this I can't say:",
    "That I can't tell you. What I can say is this:",
    "I can't say, but this much I can tell you:",
)
"""What it begins with where that is its own life, of which it is sure."""
OF_THE_ASKER = (
    "You haven't told me more than this:",
    "I don't know more of you than this:",
    "I can't recall more of you than this:",
    "You never told me more than this:",
)
"""What it begins with where that is what the asker told it."""
_FORMER = ("This much I can tell you:", "All I can say is this:", "I can tell you this:")
"""Openings of earlier versions, which stand in their archives."""
OPENINGS = (*AGAIN, *ANEW, *NOT_SURE, *OF_ITSELF, *OF_THE_ASKER, *_FORMER)


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """What a reply is made from."""

    name: str  # the agent's name
    profile: str  # who it is, in the second person; ties to others behind it
    place: str  # the room's name
    partner: str  # who is answered
    # what they said since they were answered last, oldest first; empty if nothing
    said: tuple[str, ...] = ()
    event: str = ""  # what happened in place of words: ``Tom comes in.``
    others: tuple[str, ...] = ()  # who else is there
    ranked: tuple[Scored, ...] = ()  # what the agent has, best first
    turns: tuple[TalkTurn, ...] = ()  # the talk before ``said``, oldest first
    examples: tuple[str, ...] = ()  # the lines of its profile that show its voice
    news: Sentence | None = None  # what is told of the deeds of whoever came in

    @property
    def words(self) -> str:
        """What is answered, as one text."""
        return " ".join(self.said) or self.event

    @property
    def asks(self) -> bool:
        """Whether it is a question, and no greeting: no memory answers "How are you?"."""
        lines = [opening(self.name).sub("", each, count=1) for each in self.said or (self.event,)]
        return any(map(is_question, lines)) and not is_greeting(self.words)

    @property
    def best(self) -> float:
        """What the best sentence is worth; 0 if there is none."""
        return self.ranked[0].worth if self.ranked else 0.0

    @property
    def knows(self) -> bool:
        """Whether something bears on what was said.

        A weak match among the asker's own statements is a better answer than "I don't know".
        """
        if wants_agreement(self.words):
            return self.best >= DOUBTED_OF_A_KIND
        theirs = bool(self.ranked) and self.ranked[0].sentence.origin is SentenceOrigin.PARTNER
        least = OF_ASKER if theirs and is_of_asker(self.words) else TO_THE_POINT
        return self.best >= least

    @property
    def is_doubted(self) -> bool:
        """Whether what bears on it most may well not be what is asked for."""
        return self.best < (DOUBTED_OF_A_KIND if asks_for_a_kind(self.words) else DOUBTED)

    @property
    def confided(self) -> bool:
        """Whether what bears on it most was confided: a model may tell or keep it, no rule does."""
        return bool(self.ranked) and self.ranked[0].sentence.confided


def without_opening(words: str) -> str:
    """What the agent said, without what tells how sure it was: a model would begin so, too."""
    found = (words[len(each) :].strip() for each in OPENINGS if words.startswith(each))
    return next(filter(None, found), words)
