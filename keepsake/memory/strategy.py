"""How summaries are written: a file in ``vault/config/compaction/`` for each way.

A strategy is one markdown file: settings as everywhere in the vault, and in a block fenced by
```` ```wanted ```` what a summary should be like. The prompts that say so to a model are in
``vault/config/prompts/`` (:mod:`keepsake.tasks.task_prompts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from keepsake.archive.records import Tier
from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, ConfigSection, merged
from keepsake.tasks.task import ENVIRONMENT, Prompts, load_prompts

TIER_NAMES = {Tier.RECENT: "short-term", Tier.LONGTERM: "long-term"}
"""What a template calls the two summaries."""
WANTED = "wanted"
"""The fence of a strategy's file."""
VARIABLES = frozenset({"agent", "tier", "headings"})
"""The names that it may use."""

_LONGEST_NAME = 64
_BUILT_IN = """\
Prose of a few paragraphs, the newest last. Who told {{ agent }} what, and when; what was promised,
agreed or decided, and why; names, numbers and days that may be asked for again; how {{ agent }}
stands with each of them."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of writing summaries."""

    name: str
    headings: tuple[str, ...]  # the headings that a summary must have, in order; none for prose
    prompts: Prompts = field(repr=False, hash=False)

    def wanted(self, tier: Tier, agent: str) -> str:
        """What a summary should be like, in words for the model.

        Raises:
            ConfigError: The template fails.
        """
        name, headings = TIER_NAMES[tier], list(self.headings)
        return self.prompts.render(WANTED, agent=agent, tier=name, headings=headings)


_PROMPTS = Prompts(Path("narrative.md"), {WANTED: ENVIRONMENT.from_string(_BUILT_IN)})
NARRATIVE = Strategy("narrative", (), _PROMPTS)
"""What holds where no file is given; ``narrative.md`` says the same."""


def load_strategy(path: Path) -> Strategy:
    """Read and check one file.

    Raises:
        ConfigError: It cannot be read or used; names file, line and cure.
    """
    settings = merged(path).only(("headings",))
    strategy = Strategy(path.stem, _headings(settings), load_prompts(path, (WANTED,), VARIABLES))
    for tier in Tier:
        strategy.wanted(tier, "Mira")  # a first trial
    return strategy


def strategy_names(*folders: Path) -> list[str]:
    """The names of the strategies in ``folders``, sorted."""
    found = (file.stem for folder in folders for file in folder.glob("*.md"))
    return sorted({name for name in found if _is_name(name)})


@dataclass
class Strategies:
    """The strategies of a folder, each read again when its file changes."""

    folder: Path
    # where files are that stand in for what the folder lacks or has never had in a usable state
    spare: Path | None = None
    on_problem: Callable[[ConfigError], None] | None = None  # once a state that was refused
    rest: float = 0.0  # seconds in which a file is not looked at again
    _files: dict[str, ConfigFile[Strategy]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """What there is to choose from."""
        return strategy_names(self.folder, *([self.spare] if self.spare else []))

    def get(self, name: str) -> Strategy:
        """The strategy of that name, as its file is now or in its last good state.

        Raises:
            ConfigError: There is no such file, or it has never been usable.
        """
        return (self._files.get(name) or self._open(name)).current

    def _open(self, name: str) -> ConfigFile[Strategy]:
        path = self.folder / f"{name}.md"
        if not _is_name(name) or name not in self.names:
            known = ", ".join(self.names) or "none"
            cure = f"There are: {known}. Or copy one of them to {path.name}"
            raise ConfigError(path, 1, f"there is no strategy {name!r}", cure)
        spare = self.spare / path.name if self.spare else None
        default = load_strategy(spare) if spare is not None and spare.exists() else None
        made = ConfigFile(path, load_strategy, default, self.on_problem, rest=self.rest)
        return self._files.setdefault(name, made)


def _headings(settings: ConfigSection) -> tuple[str, ...]:
    written = settings.text("headings").split(";") if "headings" in settings.entries else ()
    headings = tuple(filter(None, (" ".join(each.split()) for each in written)))
    for heading in headings:
        if not re.fullmatch(r"[^\W_][\w '’/&-]{0,59}", heading):
            cure = "A heading is letters, digits and blanks; headings are parted by ;"
            raise settings.refuse("headings", f"{heading!r} cannot be a heading", cure)
    return headings


def _is_name(name: str) -> bool:
    plain = name.translate(str.maketrans("", "", "_-")).isalnum() and name.isascii()
    return plain and name == name.lower() and name[0].isalnum() and len(name) <= _LONGEST_NAME
