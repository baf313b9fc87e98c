"""Asks a model which of the lines that a search found help to answer, and what else to search for.

A question that needs several memories shares few words with most of them: "What did she do after
she adopted the dog?" does not name the walks that she took up. A model that reads what the search
found knows which lines help, and which names and things a missing line may mention.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepsake.language.perception import for_prompt, shorten, words
from keepsake.language.tokens import estimate_tokens
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.task import AnswerRefused, Prompts

MOST_SHOWN = 50
"""The most lines that the model reads, some 2,000 tokens. Of LoCoMo's questions that need several
lines, a search has all of them among its first 10 for 44 %, among 30 for 59 %, among 50 for 70 %
(talks 26, 30 and 41)."""
MOST_PICKED = 8
"""The most lines that it may pick: of the ten that are looked at, two are left for what the further
searches find."""
MOST_SEARCHES = 4
"""The most further searches. Each takes some hundredths of a second."""
_LONGEST = 240
"""The most characters of a line."""
_LONGEST_SEARCH = 160
"""The most characters of a search: a sentence. Longer ones are no search."""
_ANSWER_TOKENS = 220
"""The most tokens of an answer: eight numbers and four searches."""
_FRAME_TOKENS = 400
"""Tokens of the prompt besides the lines, and of the answer's form."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "lines": {"type": "array", "maxItems": MOST_PICKED, "items": {"type": "integer"}},
        "searches": {"type": "array", "maxItems": MOST_SEARCHES, "items": {"type": "string"}},
    },
    "required": ["lines", "searches"],
}


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line that a search found.

    Attributes:
        text: The line, with its date and its speaker.
        place: Where it stands among the others: the numbers of its memories.
    """

    text: str
    place: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model answered.

    Attributes:
        picked: The places of the lines that help, from 0, in the search's ranking.
        searches: What else to search for.
    """

    picked: tuple[int, ...] = ()
    searches: tuple[str, ...] = ()


NO_CHOICE = Choice()
"""Nothing was picked: the search's own ranking counts."""


@dataclass(frozen=True, slots=True)
class Reread:
    """The task of choosing among the lines that a search found.

    Attributes:
        question: The words that were searched for.
        found: What was found, best first. As many are shown as fit.
        day: The day of the question, ``12 May 2023``.
        asker: Who asks; empty if nobody is known to.
    """

    prompts: Prompts
    question: str
    found: Sequence[FoundLine]
    day: str
    asker: str = ""
    name: str = "reread"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt. It shows the lines in order of time; their numbers are their ranks."""
        text = self.prompts.render(
            "question",
            lines=self._lines(target.prompt_tokens),
            question=for_prompt(self.question),
            day=self.day,
            asker=for_prompt(self.asker),
            picked=MOST_PICKED,
            searches=MOST_SEARCHES,
        )
        return GenerationRequest(
            text, max_tokens=_ANSWER_TOKENS, temperature=0.0, json_schema=_SCHEMA
        )

    def _lines(self, prompt_tokens: int) -> list[str]:
        """Return the best lines that fit, each with its rank, in order of time."""
        room = prompt_tokens - _FRAME_TOKENS
        shown = list[tuple[tuple[int, ...], str]]()
        for rank, each in enumerate(self.found[:MOST_SHOWN], 1):
            line = f"{rank}. {shorten(for_prompt(each.text), _LONGEST)}"
            room -= estimate_tokens(line) + 1
            if room < 0:
                break
            shown.append((each.place, line))
        return [line for _, line in sorted(shown, key=lambda item: item[0])]

    def read(self, answer: str) -> Choice:
        """Return what was chosen. Numbers of no line, and searches that are none, are left out.

        Raises:
            AnswerRefused: There is no JSON object in the answer.
        """
        found = _first_object(answer)
        picked, searches = (_listed(found.get(name)) for name in ("lines", "searches"))
        most = min(len(self.found), MOST_SHOWN)
        numbers = [each for each in map(_number, picked) if 1 <= each <= most]
        asked = (" ".join(each.split()) for each in searches if isinstance(each, str))
        good = [each for each in asked if words(each) and len(each) <= _LONGEST_SEARCH]
        return Choice(
            tuple(number - 1 for number in dict.fromkeys(numbers))[:MOST_PICKED],
            tuple(dict.fromkeys(good))[:MOST_SEARCHES],
        )

    def fallback(self) -> Choice:
        """Return that nothing was chosen."""
        return NO_CHOICE


def _first_object(answer: str) -> Mapping[str, Any]:
    """Return the first JSON object in an answer, whatever stands around it."""
    decoder = json.JSONDecoder(strict=False)
    for start in (place for place, sign in enumerate(answer) if sign == "{"):
        try:
            found, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise AnswerRefused('The answer is not a JSON object with "lines" and "searches"')


def _listed(value: object) -> Sequence[object]:
    """Return a list of an answer; of a single value, a list with it."""
    if isinstance(value, list):
        return value
    return () if value is None else (value,)


def _number(value: object) -> int:
    """Return a number of an answer, also ``"7"`` and ``"7."``; 0 if it is none."""
    text = str(value).strip().rstrip(".")
    return int(text) if text.isdecimal() and len(text) < _DIGITS else 0


_DIGITS = 5
"""Numbers of more digits are no line's number, and slow to read."""
