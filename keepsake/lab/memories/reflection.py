"""What a model is asked for a memory stream: how poignant a line is, and what follows from many.

The prompts are those of Park et al., *Generative Agents* (2023), sections 4.1 and 4.2, for a model
that continues a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.ports import GenerationRequest, LanguageModel

MOST_QUESTIONS, MOST_INSIGHTS = 3, 5
_RATE = """On the scale of 1 to 10, where 1 is purely mundane (e.g., brushing teeth, making bed) \
and 10 is extremely poignant (e.g., a break up, college acceptance), rate the likely poignancy of \
the following piece of memory.
Memory: {line}
Rating:"""
_ASK = """{statements}

Given only the information above, what are {most} most salient high-level questions we can answer \
about the subjects in the statements?
1."""
_INFER = """Statements about {agent}
{statements}

What {most} high-level insights can you infer from the above statements? (example format: insight \
(because of 1, 5, 3))
1."""
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*•])?\s*(?P<text>\S.*?)\s*$")
_BECAUSE = re.compile(r"\s*\((?:because of|based on)?(?P<numbers>[^()]*\d[^()]*)\)\.?\s*$", re.I)
_NUMBER = re.compile(r"\d{1,4}")
_SHORTEST = 8
"""Characters of a line that says something."""


@dataclass(frozen=True, slots=True)
class DrawnInsight:
    """Something that follows from what was lived."""

    text: str
    cited: tuple[int, ...]  # places of the statements that it rests on, from 0


def poignancy(model: LanguageModel, line: str) -> int | None:
    """How much a line matters to the model, 1 to 10; None if its answer names no such number.

    Raises:
        ModelError: It did not answer.
    """
    answer = _answer(model, _RATE.format(line=line), 8, stop=("\n",))
    found = next((int(n) for n in _NUMBER.findall(answer)), 0)
    return found if 1 <= found <= 10 else None


def questions(model: LanguageModel, lines: Sequence[str]) -> list[str]:
    """What is worth asking about these lines.

    Raises:
        ModelError: It did not answer.
    """
    prompt = _ASK.format(statements="\n".join(lines), most=MOST_QUESTIONS)
    return [item for item in _items(_answer(model, prompt, 160)) if "?" in item][:MOST_QUESTIONS]


def insights(model: LanguageModel, agent: str, lines: Sequence[str]) -> list[DrawnInsight]:
    """What follows from these lines; only what says from which of them it does.

    Raises:
        ModelError: It did not answer.
    """
    listed = "\n".join(f"{place}. {line}" for place, line in enumerate(lines, 1))
    prompt = _INFER.format(agent=agent or "them", statements=listed, most=MOST_INSIGHTS)
    items = _items(_answer(model, prompt, 320))
    found = (_insight(each, len(lines)) for each in items[:MOST_INSIGHTS])
    return [each for each in found if each is not None]


def _answer(model: LanguageModel, prompt: str, most: int, stop: tuple[str, ...] = ("\n\n",)) -> str:
    request = GenerationRequest(prompt, max_tokens=most, stop=stop, temperature=0.0)
    return model.generate(request).text


def _items(answer: str) -> list[str]:
    found = (_ITEM.match(line) for line in answer.splitlines())
    return [each["text"] for each in found if each and len(each["text"]) >= _SHORTEST]


def _insight(item: str, lines: int) -> DrawnInsight | None:
    because = _BECAUSE.search(item)
    if because is None:
        return None
    cited = (int(n) - 1 for n in _NUMBER.findall(because["numbers"]))
    places = tuple(dict.fromkeys(place for place in cited if 0 <= place < lines))
    text = item[: because.start()].strip()
    return DrawnInsight(text, places) if places and len(text) >= _SHORTEST else None
