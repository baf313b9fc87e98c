"""The check of the token budget: whether the model has room for prompts and answers."""

from __future__ import annotations

from collections.abc import Iterator

from game.cli.checks.finding import Finding
from keepsake.errors import ConfigError
from keepsake.memory.config import CompactionConfig
from keepsake.models.embedded_server import CONTEXT
from keepsake.models.profiles import (
    EMBEDDED,
    OLLAMA,
    ModelProfile,
    Profiles,
)
from keepsake.paths import Places

AGENT = "agent"


def budget(here: Places) -> Iterator[Finding]:
    """The agents' model has room for the prompts, and for the answers behind them."""
    if (config := _config(here)) is None:
        return  # the check of the configuration tells of it
    profiles = Profiles(here.config / "llm.md")
    profile = profiles.get(AGENT)
    wrong = [
        *_answer_room(config, profile),
        *_context_room(config, profile),
        *_writer(config, profiles),
    ]
    yield from wrong
    if not wrong:
        what = "for a prompt, as many tokens as the agents' model takes"
        if config.context_tokens:
            what = f"{config.budget:,} of {config.context_tokens:,} tokens for a prompt"
        yield Finding("Token budget", True, what)


def _config(here: Places) -> CompactionConfig | None:
    try:
        return CompactionConfig.load(here.config / "memory_compaction.md")
    except ConfigError:
        return None


def _answer_room(config: CompactionConfig, profile: ModelProfile) -> Iterator[Finding]:
    if profile.max_tokens > config.reserve_tokens:
        yield Finding(
            "Token budget",
            False,
            f"an answer may have {profile.max_tokens:,} tokens, and {config.reserve_tokens:,}"
            " are kept free for it",
            "Raise reserve_tokens in memory_compaction.md, or lower max_tokens in llm.md",
        )


def _context_room(config: CompactionConfig, profile: ModelProfile) -> Iterator[Finding]:
    """The embedded model refuses a prompt longer than its context; Ollama drops a part of it."""
    wanted = config.context_tokens
    what = f"prompts and answers may have {wanted:,} tokens, and the agents' model looks at "
    lower = "ower context_tokens in memory_compaction.md"
    own = profile.context_tokens or CONTEXT
    if profile.provider == EMBEDDED and wanted > own:
        yield Finding("Token budget", False, f"{what}{own:,}", f"L{lower} to {own}")
    given = profile.context_tokens or wanted  # without it, it is told to look at enough
    if profile.provider == OLLAMA and wanted > given:
        cure = f"Write **context_tokens**: {wanted} into the section {AGENT} of llm.md, or l{lower}"
        yield Finding("Token budget", False, f"{what}{given:,}", cure)


def _writer(config: CompactionConfig, profiles: Profiles) -> Iterator[Finding]:
    """Summaries are written by a profile that there is."""
    if config.profile not in profiles.all():
        yield Finding(
            "Summaries",
            False,
            f"memory_compaction.md has them written by {config.profile!r}, and llm.md has no such"
            " profile",
            f"Write one of {', '.join(sorted(profiles.all()))} there",
        )
