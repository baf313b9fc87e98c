"""What one turn of a character is made from, and the transcript that shows it.

The transcript is a play script that a model continues at the cursor, by ``prompt.md`` in the vault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import ConfigError
from keepsake.language.perception import for_prompt
from keepsake.memory.summary_text import shown
from keepsake.ports import Tool
from keepsake.prompt.script import cursor, script
from keepsake.prompt.sections import Rendered
from keepsake.tasks.conversation import example_line
from keepsake.tasks.prompt_file import Prompts, compiled, read
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
        ours = {"deeds": [*self.deeds], "options": [*self.options]}  # <thing> is meant
        return values | ours | {"examples": [*filter(None, examples)]}


_BESIDE = ("pinned", "noticed", "commands", "window", "tools")
_MADE = ("recalled", "examples", "deeds", "options")
_PARAGRAPHS = ("persona", "longterm", "recent")
_SHOWN = tuple(f.name for f in fields(TalkScene) if f.name not in (*_BESIDE, *_MADE, *_PARAGRAPHS))
TALK_VARIABLES = frozenset({*_SHOWN, *_MADE, *_PARAGRAPHS, "always", "refused", "talk"})
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


PART = "transcript"
"""The name of the one part of ``prompt.md``: the whole of it."""
TRANSCRIPT_VARIABLES = frozenset(
    {
        *("name", "profile", "examples", "commands", "pinned", "noticed", "journal"),
        *("longterm_summary", "recent_summary", "window", "people", "related_notes"),
        *("related_experiences", "remembered", "situation", "nudge", "cursor"),
    }
)
"""The names that the template may use."""

_LISTS = (
    *("examples", "commands", "pinned", "noticed", "journal", "people", "notes", "experiences"),
    *("called_back", "exits", "here", "carried"),
)
_FULL: dict[str, Any] = {
    **dict.fromkeys(_LISTS, ("Tom owns the mill.",)),
    **dict.fromkeys(("persona", "longterm", "recent", "place", "description"), "An old mill."),
    "window": (Memory(1, datetime(2025, 3, 4, tzinfo=UTC), MemoryKind.PERCEPTION, "Tom arrives."),),
}
"""A scene with something in each variable."""


def transcript_variables(scene: TalkScene, nudge: str = "") -> dict[str, Any]:
    """The template's variables, with nothing in them that could forge the script."""
    persona = (for_prompt(line, limit=LONGEST_TEXT) for line in scene.persona.splitlines())
    return {
        "name": scene.name,
        "profile": "\n".join(persona).strip(),
        "examples": [_example(line) for line in scene.examples],
        "commands": [" ".join(line.split()) for line in scene.commands],  # ours: <thing> is meant
        "pinned": _lines(scene.pinned),
        "noticed": _lines(scene.noticed),
        "journal": _lines(scene.journal),
        "longterm_summary": "\n".join(shown(scene.longterm)),
        "recent_summary": "\n".join(shown("\n".join(scene.context) or scene.recent)),
        "window": script(scene.window, scene.name),
        "people": _lines(scene.people),
        "related_notes": _lines(scene.notes),
        "related_experiences": _lines([*scene.experiences, *(line for _, line in scene.recalled)]),
        "remembered": _lines(scene.called_back),
        "situation": {
            "place": for_prompt(scene.place),
            "description": for_prompt(scene.description),
            "exits": _lines(scene.exits),
            "present": _lines((*scene.here, *scene.things)),
            "carried": _lines(scene.carried),
        },
        "nudge": for_prompt(nudge),
        "cursor": cursor(scene.name),
    }


def load_transcript(path: Path) -> Prompts:
    """Read and check the template.

    Raises:
        ConfigError: It cannot be read or parsed, names what there is not, does
            not end with the cursor, or fails on a trial.
    """
    source = read(path)
    prompts = Prompts(path, {PART: compiled(path, source, TRANSCRIPT_VARIABLES)})
    for scene in (TalkScene("Mira", **_FULL), TalkScene("Mira")):
        if not prompts.render(PART, **transcript_variables(scene, "Tom waits.")).endswith(
            cursor("Mira")
        ):
            last = len(source.rstrip().splitlines()) or 1
            problem = "the prompt does not end with the cursor"
            raise ConfigError(path, last, problem, "End it with {{ cursor }}")
    return prompts


def _example(line: str) -> str:
    """A line of a script that the character's author wrote: its cursor is meant."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for line in map(for_prompt, texts) if line]
