"""What one turn of a character is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from keepsake.archive.records import Memory
from keepsake.language.perception import for_prompt
from keepsake.ports import Tool
from keepsake.prompt.sections import Rendered
from keepsake.tasks.conversation import example_line
from keepsake.tasks.task import Question

LONGEST_LINE = 2000
"""Characters of one line of the scene: what the agent knows of somebody is one."""
LONGEST_TEXT = 20_000
"""Characters of a persona or a summary that a prompt shows."""


@dataclass(frozen=True, slots=True)
class TalkScene:
    """What a character's turn is made from."""

    name: str
    persona: str = ""  # who it is, whole
    deeds: tuple[str, ...] = ()  # usages of what can always be done
    longterm: str = ""  # the long-term summary
    longterm_span: str = ""  # its memories: ``1 to 214``
    recent: str = ""  # the short-term summary
    recent_span: str = ""
    context: tuple[str, ...] = ()  # what another memory than ours brings in place of summaries
    now: str = ""  # ``Thursday 26 November 2026, late evening``
    place: str = ""
    description: str = ""
    here: tuple[str, ...] = ()  # people
    things: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()  # the same with where they lead: ``north to The Quay``
    people: tuple[str, ...] = ()  # what it knows of those who are there
    # memories that bear on now, each with its number, the best first
    recalled: tuple[tuple[int, str], ...] = ()
    experiences: tuple[str, ...] = ()  # earlier summaries that bear on now
    notes: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    called_back: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # usages of what can be done now, with names
    whispered: bool = False  # whether it answers a whisper
    partner: str = ""  # who is answered; empty for nobody
    words: str = ""  # what they said, where it is not the last thing that happened
    trigger: str = ""  # why it thinks: ``addressed``, ``arrival``, ``idle`` …
    examples: tuple[str, ...] = ()  # lines that show its voice: ``~Mira> say Sit down.``
    pinned: tuple[str, ...] = ()  # word for word
    noticed: tuple[str, ...] = ()  # what others asked of it and what it promised
    commands: tuple[str, ...] = ()  # usages for a transcript: ``say <words>: speak so that …``
    window: tuple[Memory, ...] = ()  # as the hearers may know it, oldest first
    tools: tuple[Tool, ...] = ()  # the deeds for a model that calls tools

    def variables(self) -> dict[str, Any]:
        """The variables of ``talk.md``, with nothing in them that could pass for another part."""
        values = {name: getattr(self, name) for name in (*_SHOWN, *_PARAGRAPHS)}
        values["always"] = (*self.pinned, *self.noticed)
        values["recalled"] = tuple(line for _, line in sorted(self.recalled))
        for name, value in values.items():
            if isinstance(value, str):
                lines = value.splitlines() if name in _PARAGRAPHS else [value]
                values[name] = "\n".join(for_prompt(x, limit=LONGEST_TEXT) for x in lines)
            elif isinstance(value, tuple):
                lines = [for_prompt(each, limit=LONGEST_LINE) for each in value]
                values[name] = [*filter(None, lines)]
        examples = (example_line(each, self.name) for each in self.examples)
        ours = ("deeds", "options", "commands")  # <thing> is meant
        values |= {name: [*getattr(self, name)] for name in ours}
        return values | {"examples": [*filter(None, examples)]}


_BESIDE = ("window", "tools")
_MADE = ("recalled", "examples", "deeds", "options", "commands")
_PARAGRAPHS = ("persona", "longterm", "recent")
_SHOWN = tuple(f.name for f in fields(TalkScene) if f.name not in (*_BESIDE, *_MADE, *_PARAGRAPHS))
_ADDED = ("always", "refused", "talk", "window", "cursor")
TALK_VARIABLES = frozenset({*_SHOWN, *_MADE, *_PARAGRAPHS, *_ADDED})
"""The names that ``talk.md`` and ``act.md`` may use."""


@dataclass(frozen=True, slots=True)
class TalkPrompt:
    """A prompt that was made for one model."""

    question: Question
    rendered: Rendered  # the same as text, with the section of each line
    instructions: str  # the part that says how to answer


def ever_less(scene: TalkScene, names: Sequence[str]) -> Iterator[TalkScene]:
    """The scene, then with one line less of these, the last of each first."""
    yield scene
    for name in names:
        while value := getattr(scene, name):
            less: dict[str, Any] = {name: "" if isinstance(value, str) else value[:-1]}
            scene = replace(scene, **less)
            yield scene
