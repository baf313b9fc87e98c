"""The transcript: the prompt of a turn as a play script that a model continues at the cursor.

Its template is one Jinja file in the vault, ``prompt.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake import templates
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import ConfigError
from keepsake.language.perception import for_prompt
from keepsake.memory.text import shown
from keepsake.prompt.script import cursor, script
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.talk_scene import LONGEST_TEXT, TalkScene

TEMPLATE, PART = "prompt.md", "transcript"
"""The file, and the name of its one part: the whole of it."""
VARIABLES = frozenset(
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


def load_transcript(path: Path) -> Prompts:
    """Read and check the template.

    Raises:
        ConfigError: It cannot be read or parsed, names what there is not, does
            not end with the cursor, or fails on a trial.
    """
    source = templates.read(path)
    prompts = Prompts(path, {PART: templates.compiled(path, source, VARIABLES)})
    for scene in (TalkScene("Mira", **_FULL), TalkScene("Mira")):
        if not prompts.render(PART, **variables(scene, "Tom waits.")).endswith(cursor("Mira")):
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
