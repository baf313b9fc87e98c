"""What embeds texts, as the section ``embedder`` of ``vault/config/llm.md`` says."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from game.llm.clients.apart import EmbedderApart
from game.llm.clients.cached import ClosableEmbedder
from game.llm.clients.embedders import ServerEmbedder, ollama_embedder, openai_embedder
from game.llm.profiles import EMBEDDED, EMBEDDER, OLLAMA, OPENAI, host_of, require_server
from game.mind.markdown_config import ConfigSection, parse


@dataclass(frozen=True, slots=True)
class EmbedderProfile:
    """Which model embeds texts."""

    provider: str = EMBEDDED  # ``embedded`` (MiniLM on this machine), ``ollama`` or ``openai``
    host: str = ""  # base address of the server; empty for the provider's own default
    model: str = ""  # the model's name there; ``embedded`` has its own
    time_limit: float = 60.0  # seconds that one batch may take


def load_embedder(path: Path) -> EmbedderProfile:
    """Read the section ``embedder``; what it does not name keeps its default.

    Raises:
        ConfigError: The file cannot be read, or a value cannot be used.
    """
    for section in parse(path):
        if section.name.lower() == EMBEDDER:
            return _profile(section)
    return EmbedderProfile()


def embedder(profile: EmbedderProfile) -> ClosableEmbedder:
    """What the profile names, in this process; connects to nothing and loads nothing yet."""
    if (server := _server(profile)) is not None:
        return server
    # Here, as a process that has it elsewhere need not load what it runs on.
    from game.llm.clients.minilm import MiniLMEmbedder  # noqa: PLC0415

    return MiniLMEmbedder()


def embedder_apart(profile: EmbedderProfile) -> ClosableEmbedder:
    """The same for a running world: MiniLM in a process of its own."""
    return _server(profile) or EmbedderApart()


def _server(profile: EmbedderProfile) -> ServerEmbedder | None:
    if profile.provider == OLLAMA:
        return ollama_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    if profile.provider == OPENAI:
        return openai_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    return None


def _profile(section: ConfigSection) -> EmbedderProfile:
    section.only(field.name for field in fields(EmbedderProfile))
    default = EmbedderProfile()
    profile = EmbedderProfile(
        provider=section.choice("provider", (EMBEDDED, OLLAMA, OPENAI), default.provider),
        host=host_of(section),
        model=section.text("model", ""),
        time_limit=section.number("time_limit", default.time_limit, low=0.1, high=3600.0),
    )
    require_server(section, profile.provider, profile.model, profile.host)
    return profile
