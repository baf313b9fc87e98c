"""The prompt of a turn as a play script that a model continues at the cursor.

Its template is one Jinja file in the vault, ``prompt.md``. Each value is marked while it is
rendered (:mod:`keepsake.prompt.marks`), so that a prompt knows which of its lines comes from where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from keepsake import templates
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import ConfigError
from keepsake.language.perception import for_prompt
from keepsake.markdown_config import ConfigFile
from keepsake.prompt.marks import Marks, Rendered
from keepsake.prompt.script import cursor, script
from keepsake.summaries.text import shown
from keepsake.tasks.talk_scene import LONGEST_TEXT, TalkPrompt, TalkScene
from keepsake.tasks.task import Question

VARIABLES = (
    *("name", "profile", "examples", "commands", "pinned", "noticed", "journal"),
    *("longterm_summary", "recent_summary", "window", "people", "related_notes"),
    *("related_experiences", "remembered", "situation", "nudge", "cursor"),
)
"""The names that a template may use."""
LEFT_OUT = (
    ("recalled", "experiences", "notes"),
    *(("called_back",), ("journal",), ("people",), ("examples",), ("context",)),
)
"""What a prompt that is too large is built without, one group after the other."""
_MARKS = Marks([name for name in VARIABLES if name != "cursor"], anywhere=("name",))

_TRIAL = TalkScene(
    name="Mira",
    persona="A miller.",
    examples=("~Mira> say Good day!",),
    commands=("say <words>",),
    pinned=("The mill is mine.",),
    noticed=("Tom told you: never sell the mill (memory 3)",),
    journal=("[4 Mar, importance 8] Tom promised to bring the cup (memory 2)",),
    longterm="I was born here.",
    recent="I met Tom.",
    window=(Memory(1, datetime(2025, 3, 4, tzinfo=UTC), MemoryKind.PERCEPTION, "Tom arrives."),),
    people=("Tom, a friend, last met 3 days ago; you like him.",),
    notes=("mill: it needs oil",),
    experiences=("Tom fell into the river.",),
    called_back=("17. Tom fell into the river.",),
    place="The Mill",
    description="It is old.",
    exits=("north",),
    here=("Tom",),
    carried=("a sieve",),
)


def variables(scene: TalkScene, nudge: str = "") -> dict[str, Any]:
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


class TranscriptTemplate:
    """A template that has been checked."""

    def __init__(self, path: Path, template: jinja2.Template) -> None:
        self._path, self._template = path, template

    def prompt(
        self,
        scene: TalkScene,
        count: Callable[[Sequence[str]], list[int]],
        room: int,
        nudge: str = "",
    ) -> TalkPrompt:
        """The first prompt that keeps within its room, else the smallest there is.

        Args:
            scene: What the turn is made from.
            count: Tokens of each of several texts.
            room: Tokens that it may have.
            nudge: A line just before the cursor, such as why the last answer was no use.

        Raises:
            ConfigError: The template fails on these values.
        """
        for less in _ever_less(scene):
            rendered = self.rendered(less, nudge)
            if sum(count([line.text for line in rendered.lines])) <= room:
                break
        return TalkPrompt(Question(text=rendered.text), rendered, "", less)

    def rendered(self, scene: TalkScene, nudge: str = "") -> Rendered:
        """The text, which ends with the cursor, and the section of each of its lines.

        Raises:
            ConfigError: The template fails on these values.
        """
        values = variables(scene, nudge)
        marked = {name: _MARKS.on(name, value) for name, value in values.items()}
        try:
            printed = self._template.render(marked)
        except Exception as error:  # a template can raise whatever its expressions raise
            raise templates.failed(self._path, error) from error
        lines = _MARKS.read(printed)
        return Rendered("\n".join([line.text for line in lines]), lines)


def load_template(path: Path) -> TranscriptTemplate:
    """Read and check a template.

    Raises:
        ConfigError: It cannot be read or parsed, names what there is not, does
            not end with the cursor, or fails on a trial.
    """
    source = templates.read(path)
    template = TranscriptTemplate(path, templates.compiled(path, source, VARIABLES))
    for scene in (_TRIAL, TalkScene(name="Mira")):
        if not template.rendered(scene, "Tom waits.").text.endswith(cursor("Mira")):
            last = len(source.rstrip().splitlines()) or 1
            problem = "the prompt does not end with the cursor"
            raise ConfigError(path, last, problem, "End it with {{ cursor }}")
    return template


class TranscriptFile(ConfigFile[TranscriptTemplate]):
    """A template that is read again when its file changes; the last good one stays.

    Args:
        path: The file in the vault.
        spare: A template that stands in while the file has never been good.
        on_problem: Called once for each state of the file that was refused.
        rest: Seconds in which the file is not looked at again.
    """

    def __init__(
        self,
        path: Path,
        spare: Path | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> None:
        good = load_template(spare) if spare else None
        super().__init__(path, load_template, good, on_problem, rest=rest)


def _ever_less(scene: TalkScene) -> Iterator[TalkScene]:
    yield scene
    for names in LEFT_OUT:
        if (less := scene.less(*names)) != scene:
            yield (scene := less)


def _example(line: str) -> str:
    """A line of a script that the character's author wrote: its cursor is meant."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for line in map(for_prompt, texts) if line]
