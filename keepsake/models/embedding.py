"""What embeds texts, as the section ``embedder`` of ``vault/config/llm.md`` says."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from keepsake.markdown_config import ConfigSection, between, one_of, parse
from keepsake.models.clients.cached import ClosableEmbedder
from keepsake.models.clients.embedders import ollama_embedder, openai_embedder
from keepsake.models.profiles import EMBEDDED, EMBEDDER, OLLAMA, OPENAI, host_of, require_server


@dataclass(frozen=True, slots=True)
class EmbedderProfile:
    """Which model embeds texts."""

    provider: str = one_of(EMBEDDED, (EMBEDDED, OLLAMA, OPENAI))  # ``embedded``: MiniLM, here
    host: str = ""  # base address of the server; empty for the provider's own default
    model: str = ""  # the model's name there; ``embedded`` has its own
    # seconds that one batch may take
    time_limit: float = between(60.0, low=0.1, high=3600.0)


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
    """What the profile names; connects to nothing and loads nothing yet."""
    if profile.provider == OLLAMA:
        return ollama_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    if profile.provider == OPENAI:
        return openai_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    # Here, as a process that does not embed need not load what it runs on.
    from keepsake.models.clients.minilm import MiniLMEmbedder  # noqa: PLC0415

    return MiniLMEmbedder()


def _profile(section: ConfigSection) -> EmbedderProfile:
    settings = fields(EmbedderProfile)
    section.only(each.name for each in settings)
    plain = {each.name: section.value(each) for each in settings if each.name != "host"}
    profile = EmbedderProfile(host=host_of(section), **plain)
    require_server(section, profile.provider, profile.model, profile.host)
    return profile
