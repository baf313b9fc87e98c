"""Checks of the configuration: every file is there and understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world.home import SHIPPED_CONFIG
from keepsake.agent.attention import ThinkingConfig
from keepsake.agent.sleep.tiredness import SleepConfig
from keepsake.books.config import JournalConfig, PeopleConfig
from keepsake.errors import ConfigError
from keepsake.memory.config import FOLDER, CompactionConfig
from keepsake.memory.strategy import load_strategy
from keepsake.models import profiles
from keepsake.models.catalogue import load_catalogue
from keepsake.models.embedders import load_embedder
from keepsake.paths import Places
from keepsake.recall.config import RecallConfig
from keepsake.tasks import task_prompts

LOADERS: dict[str, Callable[[Path], object]] = {
    "llm.md": lambda path: (profiles.load(path), load_embedder(path)),
    "journal.md": JournalConfig.load,
    "models.md": load_catalogue,
    "memory_compaction.md": CompactionConfig.load,
    "people.md": PeopleConfig.load,
    "recall.md": RecallConfig.load,
    "sleep.md": SleepConfig.load,
    "thinking.md": ThinkingConfig.load,
    **task_prompts.LOADERS,
}
"""How each configuration file is read; raises ConfigError when it is wrong."""


def configuration(here: Places) -> Iterator[Finding]:
    """Each configuration file is there and can be used."""
    if not here.config.exists():
        yield Finding("Config", True, f"{here.config} is made at the first start")
        return
    looked_at = {here.config / name: load for name, load in LOADERS.items()}
    looked_at |= dict.fromkeys(sorted((here.config / FOLDER).glob("*.md")), load_strategy)
    wrong = [finding for path, load in looked_at.items() if (finding := _file(path, load))]
    yield from wrong
    if not wrong:
        yield Finding("Config", True, f"{len(looked_at)} files in {here.config} are understood")


def _file(path: Path, load: Callable[[Path], object]) -> Finding | None:
    if not path.exists():
        cure = f"Copy it from {SHIPPED_CONFIG}, or start anew: `make run` puts it back"
        return Finding("Config", False, f"{path} is missing", cure)
    try:
        load(path)
    except ConfigError as error:
        what = f"{path}, line {error.line}: {error.reason}"
        return Finding("Config", False, what, error.cure or "Mend that line")
    return None
