"""A short talk of two agents who meet: one call writes it, and each line is checked.

A line may rest only on what its speaker knows and everybody may hear. The lines are spoken one
after another, and each of the two remembers them as speech.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepsake.language.perception import for_prompt
from keepsake.ports import SYSTEM, USER, ChatMessage, GenerationRequest, TargetModel
from keepsake.tasks.night import parse_objects
from keepsake.tasks.scene import LONGEST_TEXT
from keepsake.tasks.task import AnswerRefused, Prompts

MOST_LINES = 6
LONGEST_LINE = 240
"""The most lines of a talk, and characters of one: a talk that bystanders will read to its end."""
_ANSWER_TOKENS = 600
"""Six lines of the longest kind, with their numbers, as JSON."""
_TEMPERATURE = 0.8
"""As in answers to players: talk, not a record."""
_LINE = {
    "type": "object",
    "properties": {
        "by": {"type": "string"},
        "says": {"type": "string"},
        "does": {"type": "string"},
        "plan": {"type": "string"},
        "memories": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["by"],
}
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"lines": {"type": "array", "maxItems": MOST_LINES, "items": _LINE}},
    "required": ["lines"],
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """One of the two, and what it may say.

    Attributes:
        knows: What it may tell, a line each, by the number of its memory.
        plans: What it means to do, a line each.
        of_other: What it knows of the other one, a line; may be empty.
    """

    name: str
    persona: str
    knows: Mapping[int, str] = field(default_factory=dict)
    plans: Sequence[str] = ()
    of_other: str = ""

    def variables(self) -> dict[str, Any]:
        """Return the variables of the template."""
        told = [f"{number}. {for_prompt(line)}" for number, line in self.knows.items()]
        return {
            "name": self.name,
            "persona": for_prompt(self.persona, limit=LONGEST_TEXT),
            "knows": told,
            "plans": [for_prompt(line) for line in self.plans],
            "of_other": for_prompt(self.of_other),
        }


@dataclass(frozen=True, slots=True)
class Beat:
    """One line of the talk.

    Attributes:
        by: The name of the speaker.
        says: The words; empty if it only does something.
        does: Something small that the speaker does; empty if there are words.
        rests_on: The speaker's memories that the words pass on.
        plan: What the speaker means to do from now on, as in the deed ``plan``; mostly empty.
    """

    by: str
    says: str = ""
    does: str = ""
    rests_on: tuple[int, ...] = ()
    plan: str = ""


@dataclass(frozen=True, slots=True)
class PairTalkTask:
    """The task that asks for a talk of two agents.

    Attributes:
        before: What the two said to each other before, a line each, the oldest first.
        present: Who else is there.
    """

    prompts: Prompts
    one: Speaker
    other: Speaker
    place: str
    now: str
    present: Sequence[str] = ()
    before: Sequence[str] = ()
    name: str = "pair_talk"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the two parts as messages."""
        values = {
            "one": self.one.variables(),
            "other": self.other.variables(),
            "place": self.place,
            "now": self.now,
            "present": self.present,
            "before": [for_prompt(line) for line in self.before],
            "most": MOST_LINES,
            "longest": LONGEST_LINE,
            "refused": refused,
        }
        system, turn = (self.prompts.render(part, **values) for part in ("system", "turn"))
        return GenerationRequest(
            messages=(ChatMessage(SYSTEM, system), ChatMessage(USER, turn)),
            max_tokens=_ANSWER_TOKENS,
            temperature=_TEMPERATURE,
            json_schema=_SCHEMA,
        )

    def read(self, answer: str) -> tuple[Beat, ...]:
        """Return the lines of an answer.

        Raises:
            AnswerRefused: A line is by somebody else, too long, empty, or rests on what its speaker
                does not know.
        """
        speakers = {each.name.casefold(): each for each in (self.one, self.other)}
        return tuple(_beat(each, speakers) for each in parse_objects(answer, "lines")[:MOST_LINES])

    def fallback(self) -> tuple[Beat, ...]:
        """Return no lines: without a model there is no talk."""
        return ()


def _beat(found: Mapping[str, Any], speakers: Mapping[str, Speaker]) -> Beat:
    speaker = speakers.get(str(found.get("by", "")).strip().casefold())
    if speaker is None:
        names = " or ".join(each.name for each in speakers.values())
        raise AnswerRefused(f"Each line is by {names}")
    says = _clean(found.get("says"))
    does = _clean(found.get("does")).strip("*")
    if not says and not does:
        raise AnswerRefused('Each line has words in "says", or a gesture in "does"')
    if max(len(says), len(does)) > LONGEST_LINE:
        raise AnswerRefused(f"A line has more than {LONGEST_LINE} characters")
    numbers = tuple(n for n in found.get("memories") or () if isinstance(n, int))
    if unknown := [number for number in numbers if number not in speaker.knows]:
        raise AnswerRefused(f"{speaker.name} has no memory {unknown[0]} in the list")
    plan = _clean(found.get("plan"))[:LONGEST_LINE]
    return Beat(speaker.name, says, "" if says else does, numbers, plan)


def _clean(text: Any) -> str:
    return for_prompt(str(text or "").replace('"', "'")).strip() if text else ""
