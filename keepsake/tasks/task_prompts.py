"""The templates of all tasks, each read again when its file changes; the last good one stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile
from keepsake.tasks import night, summarise, talk
from keepsake.tasks.task import Prompts, load_prompts

_PARTS: Mapping[str, tuple[Collection[str], Collection[str]]] = {
    "talk": (talk.TALK_PARTS, talk.TALK_VARIABLES),
    "act": (talk.ACT_PARTS, talk.TALK_VARIABLES),
    "journal": (night.PARTS, night.JOURNAL_VARIABLES),
    "people": (night.PARTS, night.PEOPLE_VARIABLES),
    "reflect": (night.PARTS, night.REFLECT_VARIABLES),
    "summarise": (summarise.SUMMARISE_PARTS, summarise.SUMMARISE_VARIABLES),
    "merge": (summarise.MERGE_PARTS, summarise.MERGE_VARIABLES),
    "contradictions": ((summarise.QUESTION,), summarise.CONTRADICTIONS_VARIABLES),
}
LOADERS: Mapping[str, Callable[[Path], Prompts]] = {
    f"prompts/{name}.md": partial(load_prompts, parts=parts, variables=variables)
    for name, (parts, variables) in _PARTS.items()
}
"""How each file of the configuration that holds prompts is read; raises ConfigError."""


type Templates = Mapping[str, ConfigFile[Prompts]]
"""By the name of a task, such as ``talk``, the file with its prompts."""


def task_prompts(
    config: Path,
    spare: Path,
    on_problem: Callable[[ConfigError], None] | None = None,
    *,
    rest: float = 0.0,
) -> Templates:
    """The templates of one configuration; safe in any thread.

    Args:
        config: The folder of the configuration.
        spare: The shipped one, whose files stand in for those that were never good.
        on_problem: Called once for each state of a file that was refused.
        rest: Seconds in which a file is not looked at again.
    """
    return {
        Path(name).stem: ConfigFile[Prompts](
            config / name, load, load(spare / name), on_problem, rest=rest
        )
        for name, load in LOADERS.items()
    }
