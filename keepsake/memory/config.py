"""The settings of ``vault/config/memory_compaction.md``, and how summaries are written.

A strategy is a file in ``vault/config/compaction``: settings as everywhere in the vault, and in a
block fenced by ```` ```wanted ```` what a summary should be like. The prompts that say so to a
model are in ``vault/config/prompts`` (:mod:`keepsake.tasks.task_prompts`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from keepsake.archive.records import Tier
from keepsake.markdown_config import ConfigSection, FileSettings, between, merged
from keepsake.tasks.task import ENVIRONMENT, Prompts, load_prompts

FOLDER = "compaction"
"""Where the strategies are, beside the file of settings."""

LARGEST_WINDOW = 10_000
LARGEST_CONTEXT = 4_000_000
AUTO, USUAL_CONTEXT = 0, 4096
"""As ``context_tokens``: what the agents' model takes; this many where that is not known."""
SUMMARY_SHARE = 6
"""A long-term summary may fill one part in this many of a chat model's prompt."""

_CIRCLE = "a compaction would end where it begins"
_BELOW = (
    ("low", "high", _CIRCLE),
    ("low", "sleep", _CIRCLE),
    ("low", "emergency", _CIRCLE),
    ("high", "emergency", "an emergency would come before the ordinary compaction"),
    ("preserve_share", "low", "no compaction could come down to low"),
)
"""Which marks stand below which, and why."""
TIER_NAMES = {Tier.RECENT: "short-term", Tier.LONGTERM: "long-term"}
"""What a template calls the two summaries."""
WANTED = "wanted"
"""The fence of a strategy's file."""
VARIABLES = frozenset({"agent", "tier", "headings"})
"""The names that it may use."""
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
    written = settings.text("headings").split(";") if "headings" in settings.entries else ()
    headings = tuple(filter(None, (" ".join(each.split()) for each in written)))
    for heading in headings:
        if not re.fullmatch(r"[^\W_][\w '’/&-]{0,59}", heading):
            cure = "A heading is letters, digits and blanks; headings are parted by ;"
            raise settings.refuse("headings", f"{heading!r} cannot be a heading", cure)
    strategy = Strategy(path.stem, headings, load_prompts(path, (WANTED,), VARIABLES))
    for tier in Tier:
        strategy.wanted(tier, "Mira")  # a first trial
    return strategy


@dataclass(frozen=True, slots=True)
class CompactionConfig(FileSettings):
    """When to compact, how far, and who writes the summaries.

    Windows are counted in memories, shares are of :attr:`budget`, the rest is tokens; each
    setting is explained in ``vault/config/memory_compaction.md``.
    """

    strategy: str = "narrative"
    immediate_window: int = between(64, low=1, high=LARGEST_WINDOW)
    recent_window: int = between(64, low=1, high=LARGEST_WINDOW)
    context_tokens: int = between(AUTO, high=LARGEST_CONTEXT)
    reserve_tokens: int = between(256, low=1, high=LARGEST_CONTEXT)
    high: float = between(0.85, low=0.01, high=0.99)
    low: float = between(0.60, low=0.01, high=0.99)
    sleep: float = between(0.70, low=0.01, high=0.99)
    emergency: float = between(0.95, low=0.01, high=0.99)
    preserve_memories: int = between(20, high=LARGEST_WINDOW)
    preserve_share: float = between(0.20, high=0.99)
    min_saving_tokens: int = between(300, high=LARGEST_CONTEXT)
    longterm_tokens: int = between(600, low=50, high=LARGEST_CONTEXT)
    profile: str = "summarizer"

    @property
    def budget(self) -> int:
        """Tokens that a prompt may have."""
        return (self.context_tokens or USUAL_CONTEXT) - self.reserve_tokens

    def of_budget(self, share: float) -> int:
        """So much of :attr:`budget`, in tokens."""
        return int(share * self.budget)

    def checked(self, read: ConfigSection) -> CompactionConfig:
        """These settings, if the marks go together, and there is such a strategy and some room.

        Strategies are the templates in the folder ``compaction`` beside the file.
        """
        name, files = self.strategy, (read.path.parent / FOLDER).glob("*.md")
        if name not in (known := sorted({NARRATIVE.name, *(file.stem for file in files)})):
            cure = f"Use one of {', '.join(known)}; or make {FOLDER}/{name}.md and save this again"
            raise read.refuse("strategy", f"there is no template {name!r}", cure)
        for smaller, larger, why in _BELOW:
            below, above = getattr(self, smaller), getattr(self, larger)
            if below >= above:
                told = f"{smaller} {below:g} is not below {larger} {above:g}: {why}"
                key = _written(read, larger, smaller)
                raise read.refuse(key, told, f"Lower {smaller} or raise {larger}")
        if self.budget <= 0:
            told = f"a reserve of {self.reserve_tokens:,} leaves nothing of the context"
            key = _written(read, "reserve_tokens", "context_tokens")
            raise read.refuse(key, told, "Lower reserve_tokens or raise context_tokens")
        return self


def _written(settings: ConfigSection, *keys: str) -> str:
    """The first of the keys that the file names, so that a message points to a line."""
    return next((key for key in keys if key in settings.entries), keys[0])
