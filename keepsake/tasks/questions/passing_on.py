"""Asks a model whether those who whispered something want words to reach somebody else.

A whisper may ask for an errand: "ask Nell whether it is dry". No pattern decides what a whisper
asks for, or whether words tell of it: the model that keeps the secret is asked. Its doubt is a no.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepsake.events.values import Consented
from keepsake.language.perception import for_prompt
from keepsake.language.tokens import estimate_tokens
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.task import AnswerRefused, Prompts

MOST_TOKENS = 1200
"""The most tokens of the private lines, some forty. Of more, the newest are shown."""
_LONGEST = 400
"""The most characters of a private line."""
_LONGEST_WORDS = 1000
"""The most characters of the words: what a deed may say."""
_FRAME_TOKENS = 700
"""Tokens of the prompt besides the lines and the words, and of the answer."""
_ANSWER_TOKENS = 60
"""The most tokens of an answer: its form, a number and a word."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "line": {"type": "integer"},
        "answer": {"type": "string", "enum": [each.value for each in Consented]},
    },
    "required": ["line", "answer"],
}


@dataclass(frozen=True, slots=True)
class PassedOn:
    """What a model said of words to somebody else.

    Attributes:
        found: Whether they may be said, and why.
        line: The place of the private line that asks for them, from 0; None without one.
    """

    found: Consented
    line: int | None = None

    @property
    def may(self) -> bool:
        """Whether the words may be said."""
        return self.found is not Consented.NO


def unquoted(words: str) -> str:
    """Return what somebody says without the marks that are the only border of it in a line."""
    return words.replace('"', "'")


UNASKED = PassedOn(Consented.NO)
"""Nobody has allowed it."""


@dataclass(frozen=True, slots=True)
class PassingOn:
    """The task of saying whether words may reach somebody.

    Attributes:
        who: The character that would say them.
        to: Whom they are for.
        lines: What was said in private and is not known to that person, oldest first.
        words: What would be said.
        sent: The places of the lines, from 0, with which that person has sent the agent: what was
            answered to them is for that person.
        aloud: Whether others hear the words, too: somebody has asked aloud for them.
    """

    prompts: Prompts
    who: str
    to: str
    lines: Sequence[str]
    words: Sequence[str]
    sent: Sequence[int] = ()
    aloud: bool = False
    name: str = "passing_on"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt, with the newest of the lines for which there is room."""
        text = self.prompts.render(
            "question",
            name=for_prompt(self.who),
            to=for_prompt(self.to),
            lines=self._shown(target.prompt_tokens),
            sent=[place + 1 for place in self.sent],
            aloud=self.aloud,
            words=[for_prompt(unquoted(each), limit=_LONGEST_WORDS) for each in self.words],
        )
        return GenerationRequest(
            text, max_tokens=_ANSWER_TOKENS, temperature=0.0, json_schema=_SCHEMA
        )

    def _shown(self, prompt_tokens: int) -> list[str]:
        """Return the lines for which there is room, each with its number."""
        words = sum(map(estimate_tokens, self.words))
        room = min(MOST_TOKENS, prompt_tokens - _FRAME_TOKENS - words)
        shown = list[str]()
        for number, each in reversed([*enumerate(self.lines, 1)]):
            line = f"{number}. {for_prompt(each, limit=_LONGEST)}"
            room -= estimate_tokens(line) + 1
            if room < 0:
                break
            shown.append(line)
        return shown[::-1]

    def read(self, answer: str) -> PassedOn:
        """Return what the model said.

        Raises:
            AnswerRefused: It is no such answer, or says that a line asks for it that is none.
        """
        try:
            found = json.loads(answer[answer.find("{") : answer.rfind("}") + 1])
            what = Consented(found["answer"])
            line = int(found["line"])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise AnswerRefused(f"{answer[:40]!r} is no such answer") from None
        if what is not Consented.ASKED:
            return PassedOn(what)
        if not 1 <= line <= len(self.lines):
            raise AnswerRefused(f"there is no line {line} that asks for it")
        return PassedOn(what, line - 1)

    def fallback(self) -> PassedOn:
        """Return that nobody has allowed it, if the model does not answer."""
        return UNASKED
