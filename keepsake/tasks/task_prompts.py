"""The templates of all tasks. A changed file is read again; a bad one is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile
from keepsake.tasks.forms.confided import CONFIDED
from keepsake.tasks.forms.facts import BLOCKS
from keepsake.tasks.scene import TALK_VARIABLES
from keepsake.tasks.task import Prompts, load_prompts

_NIGHT = "name lines longest refused"
_SUMMARY = "agent persona words required refused cites"
_TALK = " ".join(TALK_VARIABLES)
_FACTS = " ".join(f"{block}?" for block in (*BLOCKS, CONFIDED))
_PARTS = f"system {_FACTS} turn close? later? dialogue transcript"
_TEMPLATES = {
    "talk": (_PARTS, f"{_TALK} minutes"),
    "conversation": (_PARTS, f"{_TALK} minutes"),
    "act": ("turn", _TALK),
    "agreed": ("question setting_off? sent? errand?", "name partner words answer deed to"),
    "passing_on": ("question", "name to lines words sent aloud"),
    "journal": ("system turn", f"{_NIGHT} most"),
    "people": ("system turn", f"{_NIGHT} who portrait"),
    "intentions": ("system turn", f"{_NIGHT} persona today known usual places most"),
    "reflect": ("system turn", f"{_NIGHT} most known"),
    "pair_talk": ("system turn", "one other place now present before most longest refused"),
    "summarise": ("system memories", f"{_SUMMARY} memories older"),
    "merge": ("system summaries", f"{_SUMMARY} summaries"),
    "contradictions": ("question", "lines text"),
    "cite": ("question", "agent memories sentences refused"),
    "meaning": ("question", "words lines refused"),
    "reread": ("question", "lines question day asker picked searches"),
}
"""The parts of each task's template, and the variables that they may use. A part with a question
mark may be missing, as in files that were edited in an earlier version."""
LOADERS: Mapping[str, Callable[[Path], Prompts]] = {
    f"prompts/{name}.md": partial(load_prompts, parts=parts.split(), variables=names.split())
    for name, (parts, names) in _TEMPLATES.items()
}
"""The function that reads each prompt file of the configuration; it raises ConfigError."""


Templates = Mapping[str, ConfigFile[Prompts]]
"""The prompt file of each task, by the task's name, such as ``talk``."""


def task_prompts(
    config: Path,
    spare: Path,
    on_problem: Callable[[ConfigError], None] | None = None,
    *,
    rest: float = 0.0,
) -> Templates:
    """Return the templates of one configuration; safe in any thread.

    Args:
        spare: The shipped configuration; its files replace files that have no good version yet.
        on_problem: Called once for each version of a file that was refused.
        rest: Seconds between two checks whether a file has changed.
    """
    return {task: _file(task, config, spare, on_problem, rest=rest) for task in _TEMPLATES}


class ShippedTemplates(Templates):
    """The shipped templates, each read at its first use: most programs need two of a dozen.

    Safe in any thread.

    Args:
        folder: The shipped configuration.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, ConfigFile[Prompts]] = {}

    def __getitem__(self, task: str) -> ConfigFile[Prompts]:
        if task not in self._read:  # two threads may read it; both get the same
            self._read[task] = _file(task, self._folder, self._folder, None, rest=math.inf)
        return self._read[task]

    def __iter__(self) -> Iterator[str]:
        return iter(_TEMPLATES)

    def __len__(self) -> int:
        return len(_TEMPLATES)


def _file(
    task: str,
    config: Path,
    spare: Path,
    on_problem: Callable[[ConfigError], None] | None,
    *,
    rest: float,
) -> ConfigFile[Prompts]:
    """Return the template file of one task; the arguments are those of :func:`task_prompts`."""
    name = f"prompts/{task}.md"
    load = LOADERS[name]
    return ConfigFile(config / name, load, load(spare / name), on_problem, rest=rest)
