"""Exchanges that show a model how to answer: an agent's own, and general ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.prompt.reply.context import ReplyContext

_SAID = re.compile(r'^(?P<who>[^",:]{1,40}?) says(?: to you)?, "(?P<words>.*)"$')
_ANSWER = re.compile(r"^~[^<>~]{1,40}>\s*say\s+(?P<words>.+)$")
_REASON = re.compile(r"\s\|\s.*$")
STRANGERS = ("Piet", "Anders", "Gudrun")
"""Names for whoever speaks in a general example: the first that nobody here bears."""


@dataclass(frozen=True, slots=True)
class Example:
    """One exchange."""

    who: str  # who spoke
    heard_words: str  # what they said; empty where something happened instead
    answer: str  # what the agent answered
    heard: str = ""  # what happened, where nobody spoke
    facts: tuple[str, ...] = ()  # what it was answered from
    holds: bool = False  # whether the answer may be right anywhere: that one does not know

    @property
    def line(self) -> str:
        """What was heard, as a line of a dialogue."""
        return f"{self.who}: {self.heard_words}" if self.heard_words else f"({self.heard})"


KNOWN = (
    Example(
        "Piet",
        "What was it that I keep up there?",
        "You keep bees up on the hill, Piet.",
        facts=('Piet told me, "I keep bees up on the hill."',),
    ),
    Example(
        "Piet",
        "And your brother, what does he do?",
        "My brother Rolf? He is a smith.",
        facts=("My brother Rolf is a smith.",),
    ),
)
"""Shown when something bears on the question: whose life it is shows in the pronoun."""
UNKNOWN = (
    KNOWN[0],
    Example(
        "Piet", "What is my sister called?", "I don't know. You never told me, Piet.", holds=True
    ),
)
"""Shown when perhaps nothing does."""
ACKNOWLEDGED = (
    Example("Piet", "Good evening.", "Good evening, Piet. Come in."),
    Example("Piet", "I have bought a boat.", "A boat! I hope she sails well, Piet."),
    Example("Piet", "My foot hurts.", "I'm sorry to hear that. Sit down a while."),
)
"""Shown when nothing is asked."""
GREETED = Example("Piet", "", "Good day to you! What brings you here?", heard="Piet comes in.")


def named(example: Example, scene: ReplyContext) -> Example:
    """The example, with a name in it that nobody has who is there."""
    taken = {scene.name, scene.partner, *scene.others}
    name = next((each for each in STRANGERS if each not in taken), STRANGERS[0])
    return replace(
        example,
        who=name,
        answer=example.answer.replace("Piet", name),
        heard=example.heard.replace("Piet", name),
        facts=tuple(fact.replace("Piet", name) for fact in example.facts),
    )


def from_script(lines: Sequence[str], name: str) -> list[Example]:
    """The exchanges of an agent's own examples in which it answers by speaking.

    Args:
        lines: Lines of a script: what it perceived, then ``~Mira> say … | reason``.
        name: The agent's name.
    """
    found: list[Example] = []
    before = ""
    for line in lines:
        answer = _ANSWER.match(line.strip())
        if answer and before:
            words = _REASON.sub("", answer["words"]).strip()
            said = _SAID.match(before)
            if said:
                found.append(Example(said["who"], said["words"], words))
            elif (who := before.split(maxsplit=1)[0]).istitle() and before.endswith("."):
                found.append(Example(who, "", words, heard=before.rstrip(".") + "."))
        before = "" if line.lstrip().startswith("~") else line.strip()
    return [
        each
        for each in found
        if each.heard_words or (" " in each.heard and "quiet" not in each.heard)
    ]
