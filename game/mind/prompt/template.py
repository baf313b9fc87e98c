"""The prompt of a thought, made from a template in the vault.

Templates are Jinja, sandboxed, and checked when they are read. Values are
never templates: what a player says is data, whatever braces it holds. Each value is
marked while it is rendered (:mod:`game.mind.prompt.marks`), so that a prompt knows which of its
lines comes from where.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from game.mind.archive.records import Memory
from game.mind.errors import ConfigError
from game.mind.language.perception import for_prompt
from game.mind.markdown_config import ConfigFile
from game.mind.prompt.marks import Marks, PromptLine
from game.mind.prompt.script import RenderedMemory, cursor, script
from game.mind.prompt.window_script import RenderedWindow, WindowScript
from game.mind.summaries import sections

_LONGEST_SUMMARY = 20_000
_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)
_compiled = lru_cache(maxsize=8)(_ENVIRONMENT.from_string)  # also as the spare one


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the agent is at this moment.

    Attributes:
        place: The room's name.
        description: What it looks like.
        exits: Names of its exits.
        present: Who and what is there beside the agent.
        carried: What the agent has with it.
    """

    place: str = ""
    description: str = ""
    exits: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptContext:
    """All that a template can name; the fields are its variables.

    Attributes:
        name: The agent's name.
        profile: Who it is, one or more lines.
        examples: Lines of a script that show how it speaks and acts.
        commands: Usage lines, ``say <words>: speak so that …``.
        pinned: Facts that are always shown.
        noticed: What others asked of the agent and what it promised, each with its source.
        journal: What mattered most of what it wrote down, from before the window.
        longterm_summary: Empty if there is none yet.
        recent_summary: Empty if there is none yet.
        window: The memories that are not summarised, or their script where it is kept from
            one prompt to the next; the template sees its lines.
        people: What it knows of those who are there, and of the place.
        related_notes: Own notes that may matter now.
        related_experiences: Memories from before the window that may matter now.
        remembered: Memories that the agent called back itself, for a few thoughts.
        situation: Where it is.
        nudge: A line just before the cursor, such as who waits for an answer.
    """

    name: str
    profile: str = ""
    examples: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    noticed: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    longterm_summary: str = ""
    recent_summary: str = ""
    window: tuple[RenderedMemory, ...] | RenderedWindow = ()
    people: tuple[str, ...] = ()
    related_notes: tuple[str, ...] = ()
    related_experiences: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    situation: Situation = Situation()
    nudge: str = ""

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
    """A prompt, and which variable each of its lines comes from.

    Attributes:
        text: The prompt, as it is sent.
        lines: Each line without its end, with the name of the first variable in it, or
            :data:`game.mind.prompt.marks.FRAME`.
    """

    text: str
    lines: tuple[PromptLine, ...]


class PromptTemplate:
    """A template that has been checked.

    Args:
        path: Where it stands, for messages.
        template: What Jinja made of it.
    """

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
            raise _refused(self._path, error) from error
        # A line break is only ever the template's own or a profile's.
        lines = _MARKS.read(printed)
        return Rendered("\n".join([line.text for line in lines]), lines)


def load_template(path: Path) -> PromptTemplate:
    """Read and check a template.

    Raises:
        ConfigError: It cannot be read or parsed, names what there is not, does
            not end with the cursor, or fails on a trial.
    """
    source = _read(path)
    try:
        tree = _ENVIRONMENT.parse(source)
        _check_names(path, tree)
        template = PromptTemplate(path, _compiled(source))
    except jinja2.TemplateError as error:
        raise _refused(path, error) from error
    _check_cursor(path, source, template)
    return template


class TemplateFile(ConfigFile[PromptTemplate]):
    """A template that is read again when its file changes; the last good one stays.

    Args:
        path: The file.
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


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cure = "Put it back from the committed vault, saved as UTF-8"
        raise ConfigError(path, 1, f"the template cannot be read ({error})", cure) from error


def _check_names(path: Path, tree: nodes.Template) -> None:
    unknown = meta.find_undeclared_variables(tree) - VARIABLES
    for name in tree.find_all(nodes.Name):
        if name.name in unknown:
            cure = f"A template can use: {', '.join(sorted(VARIABLES))}"
            raise ConfigError(path, name.lineno, f"there is no variable {name.name!r}", cure)


def _check_cursor(path: Path, source: str, template: PromptTemplate) -> None:
    last = len(source.rstrip().splitlines()) or 1
    for context in (_TRIAL, PromptContext(name="Mira")):
        if not template.render(context).endswith(context.cursor):
            raise ConfigError(
                path, last, "the prompt does not end with the cursor", "End it with {{ cursor }}"
            )


def _refused(path: Path, error: Exception) -> ConfigError:
    line = getattr(error, "lineno", None) or _line_in_template(error)
    reason = getattr(error, "message", None) or str(error) or type(error).__name__
    cure = "Mend the template, or put it back from the committed vault"
    return ConfigError(path, line, f"the template fails: {reason}", cure)


def _line_in_template(error: Exception) -> int:
    """The line of the template in which ``error`` was raised; Jinja keeps it in the traceback."""
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else 1


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for line in map(for_prompt, texts) if line]


def _paragraphs(text: str) -> str:
    return "\n".join(for_prompt(line, limit=_LONGEST_SUMMARY) for line in text.splitlines()).strip()


def _told(summary: str) -> str:
    """A summary, its lines kept apart: one with headings has many."""
    return "\n".join(sections.shown(summary))


def _example(line: str) -> str:
    """A line of a script that the agent's author wrote: its cursor is meant."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)
