"""The prompt of a thought, made from a template in the vault.

Each value is marked while it is rendered (:mod:`keepsake.prompt.marks`), so that a prompt knows
which of its lines comes from where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from keepsake import templates
from keepsake.archive.records import Memory
from keepsake.errors import ConfigError
from keepsake.language.perception import for_prompt
from keepsake.markdown_config import ConfigFile
from keepsake.prompt.marks import Marks, PromptLine
from keepsake.prompt.script import RenderedMemory, cursor, script
from keepsake.prompt.window_script import RenderedWindow, WindowScript
from keepsake.summaries.text import shown

_LONGEST_SUMMARY = 20_000


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the agent is at this moment."""

    place: str = ""
    description: str = ""
    exits: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptContext:
    """All that a template can name; the fields are its variables."""

    name: str
    profile: str = ""  # who it is, one or more lines
    examples: tuple[str, ...] = ()  # lines of a script that show how it speaks and acts
    commands: tuple[str, ...] = ()  # usage lines, ``say <words>: speak so that …``
    pinned: tuple[str, ...] = ()
    # what others asked of the agent and what it promised, each with its source
    noticed: tuple[str, ...] = ()
    # what mattered most of what it wrote down, from before the window
    journal: tuple[str, ...] = ()
    longterm_summary: str = ""
    recent_summary: str = ""
    # the memories that are not summarised, or their script where it is kept from one prompt to the
    # next; the template sees its lines
    window: tuple[RenderedMemory, ...] | RenderedWindow = ()
    people: tuple[str, ...] = ()  # what it knows of those who are there, and of the place
    related_notes: tuple[str, ...] = ()  # own notes that may matter now
    related_experiences: tuple[str, ...] = ()  # memories from before the window that may matter now
    # memories that the agent called back itself, for a few thoughts
    remembered: tuple[str, ...] = ()
    situation: Situation = Situation()
    nudge: str = ""  # a line just before the cursor, such as who waits for an answer

    @property
    def cursor(self) -> str:
        """Where the model goes on: ``~Mira>``."""
        return cursor(self.name)

    def variables(self) -> dict[str, Any]:
        """The template's variables, with nothing in them that could forge the script."""
        here, window = self.situation, self.window
        return {
            "name": self.name,
            "profile": _paragraphs(self.profile),
            "examples": [_example(line) for line in self.examples],
            # Ours: <thing> is meant.
            "commands": [" ".join(line.split()) for line in self.commands],
            "longterm_summary": _told(self.longterm_summary),
            "recent_summary": _told(self.recent_summary),
            "window": window.lines
            if isinstance(window, RenderedWindow)
            else script(window, self.name),
            **{name: _lines(getattr(self, name)) for name in _LISTS},
            "situation": {
                "place": for_prompt(here.place),
                "description": for_prompt(here.description),
                "exits": _lines(here.exits),
                "present": _lines(here.present),
                "carried": _lines(here.carried),
            },
            "nudge": for_prompt(self.nudge),
            "cursor": self.cursor,
        }


_LISTS = (
    *("pinned", "noticed", "journal"),
    *("people", "related_notes", "related_experiences", "remembered"),
)
"""Variables that are lines of their own."""
VARIABLES = frozenset({*(field.name for field in fields(PromptContext)), "cursor"})
"""The names that a template may use."""

_TRIAL = PromptContext(
    name="Mira",
    profile="A miller.",
    examples=("~Mira> say Good day!",),
    commands=("say <words>",),
    pinned=("The mill is mine.",),
    noticed=("Tom told you: never sell the mill (memory 3)",),
    journal=("[4 Mar, importance 8] Tom promised to bring the cup (memory 2)",),
    longterm_summary="I was born here.",
    recent_summary="I met Tom.",
    window=(RenderedMemory('Tom says, "Hello."', datetime(2025, 3, 4, tzinfo=UTC)),),
    people=("Tom, a friend, last met 3 days ago; you like him.",),
    related_notes=("mill: it needs oil",),
    related_experiences=("Tom fell into the river.",),
    remembered=("17. Tom fell into the river.",),
    situation=Situation("The Mill", "It is old.", ("north",), ("Tom",), ("a sieve",)),
    nudge="Tom waits.",
)


_MARKS = Marks([field.name for field in fields(PromptContext)], anywhere=("name",))
"""``for_prompt`` lets none of the marks through; the agent's name stands everywhere."""


def kept_script(rendered: Callable[[Memory], RenderedMemory]) -> WindowScript:
    """The script of one agent's window, kept from one prompt to the next.

    Args:
        rendered: How a memory is shown; it must go by the memory alone.
    """
    return WindowScript(rendered, lambda line: _MARKS.one("window", line))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt, and which variable each of its lines comes from."""

    text: str
    # each line without its end, with the name of the first variable in it, or
    # :data:`keepsake.prompt.marks.FRAME`
    lines: tuple[PromptLine, ...]


class PromptTemplate:
    """A template that has been checked."""

    def __init__(self, path: Path, template: jinja2.Template) -> None:
        self._path = path
        self._template = template

    def render(self, context: PromptContext) -> str:
        """The prompt; it ends with the cursor, without a blank or a newline after it.

        Raises:
            ConfigError: The template fails on these values.
        """
        return self.rendered(context).text

    def rendered(self, context: PromptContext) -> Rendered:
        """The same, with the section of each line.

        Raises:
            ConfigError: The template fails on these values.
        """
        variables = {key: _MARKS.on(key, value) for key, value in context.variables().items()}
        try:
            printed = self._template.render(variables)
        except Exception as error:  # a template can raise whatever its expressions raise
            raise templates.failed(self._path, error) from error
        # A line break is only ever the template's own or a profile's.
        lines = _MARKS.read(printed)
        return Rendered("\n".join([line.text for line in lines]), lines)


def load_template(path: Path) -> PromptTemplate:
    """Read and check a template.

    Raises:
        ConfigError: It cannot be read or parsed, names what there is not, does
            not end with the cursor, or fails on a trial.
    """
    source = templates.read(path)
    template = PromptTemplate(path, templates.compiled(path, source, VARIABLES))
    _check_cursor(path, source, template)
    return template


class TemplateFile(ConfigFile[PromptTemplate]):
    """A template that is read again when its file changes; the last good one stays.

    Args:
        spare: A template that stands in while the file has never been good.
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


def _check_cursor(path: Path, source: str, template: PromptTemplate) -> None:
    last = len(source.rstrip().splitlines()) or 1
    for context in (_TRIAL, PromptContext(name="Mira")):
        if not template.render(context).endswith(context.cursor):
            raise ConfigError(
                path, last, "the prompt does not end with the cursor", "End it with {{ cursor }}"
            )


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for line in map(for_prompt, texts) if line]


def _paragraphs(text: str) -> str:
    return "\n".join(for_prompt(line, limit=_LONGEST_SUMMARY) for line in text.splitlines()).strip()


def _told(summary: str) -> str:
    """A summary, its lines kept apart: one with headings has many."""
    return "\n".join(shown(summary))


def _example(line: str) -> str:
    """A line of a script that the agent's author wrote: its cursor is meant."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)
