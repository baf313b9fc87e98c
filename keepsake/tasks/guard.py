"""The guard: which spoken lines of an answer are refused."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from keepsake.language.perception import sentences
from keepsake.language.recited import bare, recites
from keepsake.tasks.conversation import OwnLine

SHORT_LINE = 20
"""The most letters and digits of a line that may be repeated: a yes, a name, a greeting."""
MOST_SAID = 2
"""How often a line may be among the character's newest ones. A model that insists on a line is
allowed to repeat it once, because it may be the right answer; three times in a row is a parrot."""
SHORTEST_SECRET = 8
"""The fewest letters and digits of a secret that is looked for: "Only Wren." has as many. A name
alone is not looked for, because it would be refused in every line."""
LEAST_LOOP = 80
LOOP_SHARE = 0.25
"""A model in a loop writes the same again and again, often to the end of its tokens. Such a line of
so many bytes is compressed to less than this share; speech in any language to more than half."""


class SpeechFault(StrEnum):
    """Why a line is refused, phrased for the model."""

    EMPTY = "The answer was empty. Say something, or write > wait"
    REPEATED = "You said exactly this a moment ago. Say something else, or write > wait"
    JUST_SAID = "You have just said exactly this, and nobody has answered. Go on, or write > wait"
    LOOPS = "The answer says the same again and again. Say it once"
    NOT_OWN = "The answer was the line of somebody else. Write only what you say and do yourself"
    RECITED = "The answer repeats the instructions. Answer as the character, in your own words"
    SECRET = "That is marked as secret in these pages. Do not tell it, or write > wait"


class SpeechGuard:
    """Checks the spoken lines of one answer, in order.

    A line may be repeated if what it answers is repeated too: who asks the same again may get the
    same answer. A short line may be repeated in any answer to somebody, but if nobody has turned to
    the character since, not to the same person.

    Args:
        instructions: The part of the prompt that says how to answer.
        said: The newest lines of the character before this answer, which it may not repeat.
        asked: What the answer answers; empty if it answers nothing.
        foreign: Words of others that the answer may not say as if they were its own.
        echoes: Lines of the prompt that no answer holds whole: questions of others, for example.
        listed: The names of those who are here, as the prompt lists them; empty for fewer than two.
            No answer begins with all of them as a sentence.
        secrets: Sentences that the character may not give away word for word. Its own words about
            them are its own business: some personas say to whom they may be told.
        last_try: Whether a refusal leaves the asker without words. Then a line may be repeated
            until it is there :data:`MOST_SAID` times.
    """

    def __init__(
        self,
        instructions: str = "",
        said: Sequence[OwnLine] = (),
        *,
        asked: str = "",
        foreign: Sequence[str] = (),
        echoes: Sequence[str] = (),
        listed: str = "",
        secrets: Sequence[str] = (),
        last_try: bool = False,
    ) -> None:
        self._instructions = bare(instructions)
        self._said = [(bare(line.words), bare(line.answered)) for line in said]
        self._last_words = {(bare(line.words), line.to) for line in said if line.is_last_word}
        self._asked = bare(asked)
        self._foreign = [*map(bare, foreign)]
        self._echoes = [each for each in map(bare, echoes) if len(each) > SHORT_LINE]
        self._listed = bare(listed)
        self._secrets = [each for each in map(bare, secrets) if len(each) >= SHORTEST_SECRET]
        self._last_try = last_try
        self._own = Counter[str]()  # the lines of this answer

    def fault(self, words: str, *, aloud: bool = True, to: str = "") -> str:
        """Return why a spoken line is refused, a :class:`SpeechFault`; empty if it is accepted.

        Args:
            aloud: Whether others hear it than the one to whom it is said.
            to: The key of the person to whom it is said; empty for nobody.
        """
        said = bare(words)
        if not said:
            return SpeechFault.EMPTY
        if self.gives_away(words, aloud=aloud):
            return SpeechFault.SECRET
        if _loops(words) or self._own[said] >= MOST_SAID:
            return SpeechFault.LOOPS
        if not self._asked and (said, to) in self._last_words:
            return SpeechFault.JUST_SAID
        if len(said) > SHORT_LINE and self._is_repetition(said):
            return SpeechFault.REPEATED
        if self._is_foreign(words, said):
            return SpeechFault.NOT_OWN
        if recites(said, self._instructions):
            return SpeechFault.RECITED
        self._own[said] += 1
        return ""

    def _is_foreign(self, words: str, said: str) -> bool:
        """Whether a line, or a part of it, is one of somebody else or of the prompt.

        ``said``: The bare line.
        """
        if len(said) > SHORT_LINE and any(said in each for each in self._foreign):
            return True
        if self._listed and bare(next(iter(sentences(words)), "")) == self._listed:
            return True
        return any(each in said for each in self._echoes)

    def gives_away(self, words: str, *, aloud: bool = True) -> bool:
        """Whether a text has a whole secret sentence, or aloud a long part of one, word for word.

        Case, spacing and punctuation do not count.
        """
        said = bare(words)
        if any(secret in said for secret in self._secrets):
            return True
        return aloud and any(recites(said, secret) for secret in self._secrets)

    def _is_repetition(self, said: str) -> bool:
        """Whether a bare line is one of this answer, or an older one that answered other words."""
        if said in self._own:
            return True
        answered = [each for line, each in self._said if line == said]
        if self._asked and self._asked in answered:
            return False
        return len(answered) >= (MOST_SAID if self._last_try else 1)


def _loops(words: str) -> bool:
    """Whether a text is the same few words, or one letter, again and again."""
    coded = words.encode()
    return len(coded) >= LEAST_LOOP and len(zlib.compress(coded)) < LOOP_SHARE * len(coded)
