"""How summaries are written: a file in ``vault/config/compaction/`` for each way.

A strategy is one markdown file: settings as everywhere in the vault, and in a block fenced by
```` ```wanted ```` what a summary should be like. The prompts that say so to a model are in
``vault/config/prompts/`` (:mod:`keepsake.tasks.summary_prompts`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import jinja2

from keepsake import templates
from keepsake.archive.records import Tier
from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, ConfigSection, merged
from keepsake.tasks.prompt_file import Prompts, load_prompts

LONGEST_NAME = 60
"""Characters of one heading."""
MOST_HEADINGS = 20
TIER_NAMES = {Tier.RECENT: "short-term", Tier.LONGTERM: "long-term"}
"""What a template calls the two summaries."""
WANTED = "wanted"
"""The fence of a strategy's file."""
VARIABLES = frozenset({"agent", "tier", "headings"})
"""The names that it may use."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OLD_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[`~]*prompt\b", re.M)
_BUILT_IN = """\
Prose of a few paragraphs, the newest last. Who told {{ agent }} what, and when; what was promised,
agreed or decided, and why; names, numbers and days that may be asked for again; how {{ agent }}
stands with each of them."""


class Layout(StrEnum):
    """Which tiers a strategy keeps."""

    CASCADE = "cascade"
    """Window, short-term and long-term summary."""
    REPLACE = "replace"
    """One summary of everything, and what is going on."""
    SLIDING = "sliding"
    """The newest memories and no summary."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of writing summaries."""

    name: str
    layout: Layout
    headings: tuple[str, ...]  # the headings that a summary must have, in order; none for prose
    path: Path
    prompts: Prompts = field(repr=False, hash=False)

    def wanted(self, tier: Tier, agent: str) -> str:
        """What a summary should be like, in words for the model.

        Raises:
            ConfigError: The template fails.
        """
        name, headings = TIER_NAMES[tier], list(self.headings)
        return self.prompts.render(WANTED, agent=agent, tier=name, headings=headings)


def _built_in(text: str) -> jinja2.Template:
    return templates.ENVIRONMENT.from_string(text)


NARRATIVE = Strategy(
    "narrative",
    Layout.CASCADE,
    (),
    Path("narrative.md"),
    Prompts(Path("narrative.md"), {WANTED: _built_in(_BUILT_IN)}),
)
"""What holds where no file is given; ``narrative.md`` says the same."""


def load_strategy(path: Path) -> Strategy:
    """Read and check one file.

    Raises:
        ConfigError: It cannot be read or used; names file, line and cure.
    """
    text = templates.read(path)
    if old := _OLD_FENCE.search(text):
        line = text.count("\n", 0, old.start()) + 1
        what = "a strategy has no prompt of its own any more"
        cure = (
            "Write between ```wanted and ``` what a summary should be like, as narrative.md does, "
            "and take the prompt and the setting stop out; the prompt is in prompts/summarise.md"
        )
        raise ConfigError(path, line, what, cure)
    settings = merged(path)
    settings.only(("layout", "headings"))
    layout = Layout(settings.choice("layout", list(Layout), Layout.CASCADE))
    prompts = load_prompts(path, () if layout is Layout.SLIDING else (WANTED,), VARIABLES)
    strategy = Strategy(path.stem, layout, _headings(settings), path, prompts)
    if layout is not Layout.SLIDING:
        for tier in Tier:
            strategy.wanted(tier, "Mira")  # a first trial
    return strategy


def strategy_names(*folders: Path) -> list[str]:
    """The names of the strategies in ``folders``, sorted."""
    found = (file.stem for folder in folders for file in folder.glob("*.md"))
    return sorted({name for name in found if _NAME.fullmatch(name)})


class Strategies:
    """The strategies of a folder, each read again when its file changes.

    Args:
        folder: Their files.
        spare: Stands in for what the folder lacks or has never had in a usable state.
        on_problem: Called once for each state of a file that was refused.
        rest: Seconds in which a file is not looked at again.
    """

    def __init__(
        self,
        folder: Path,
        spare: Path | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> None:
        self.folder = folder
        self._spare, self._rest = spare, rest
        self._on_problem = on_problem
        self._files: dict[str, ConfigFile[Strategy]] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """What there is to choose from."""
        return strategy_names(self.folder, *([self._spare] if self._spare else []))

    def get(self, name: str) -> Strategy:
        """The strategy of that name, as its file is now or in its last good state.

        Raises:
            ConfigError: There is no such file, or it has never been usable.
        """
        with self._lock:
            file = self._files.get(name) or self._open(name)
        return file.current

    def _open(self, name: str) -> ConfigFile[Strategy]:
        path = self.folder / f"{name}.md"
        if not _NAME.fullmatch(name) or name not in self.names:
            known = ", ".join(self.names) or "none"
            cure = f"There are: {known}. Or copy one of them to {path.name}"
            raise ConfigError(path, 1, f"there is no strategy {name!r}", cure)
        spare = self._spare / path.name if self._spare else None
        default = load_strategy(spare) if spare is not None and spare.exists() else None
        made = ConfigFile(path, load_strategy, default, self._on_problem, rest=self._rest)
        return self._files.setdefault(name, made)


def _headings(settings: ConfigSection) -> tuple[str, ...]:
    if "headings" not in settings.entries:
        return ()
    written = settings.text("headings").split(";")
    headings = tuple(filter(None, (" ".join(each.split()) for each in written)))
    for heading in headings:
        if len(heading) > LONGEST_NAME or not re.fullmatch(r"[^\W_][\w '’/&-]*", heading):
            cure = "A heading is letters, digits and blanks; headings are parted by ;"
            raise settings.refuse("headings", f"{heading!r} cannot be a heading", cure)
    if len({heading.casefold() for heading in headings}) < len(headings):
        raise settings.refuse("headings", "one is listed twice", "Keep one of them")
    if len(headings) > MOST_HEADINGS:
        raise settings.refuse("headings", f"they are {len(headings)}, more than {MOST_HEADINGS}")
    return headings
