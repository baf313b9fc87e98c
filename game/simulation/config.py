"""The configuration of a simulation: the world's, with another model and other settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.markdown_config import FileSettings, parse, settings_of, with_settings
from keepsake.memory.config import CompactionConfig
from keepsake.models.profiles import NO_MODEL, OLLAMA, OPENAI, SCRIPTED, load
from keepsake.paths import Places

AGENT = "agent"
WRITER = "summarizer"
OWN = "vault"
"""The profile that agents think with; the one that writes summaries and works at night; and the
value of ``--model`` and ``--writer`` for the model in ``llm.md``."""
_MODELS = f"{OWN} (what llm.md names), ollama:MODEL or openai:MODEL@HOST"
_KEYS = ("provider", "host", "model", "model_file", "seed")
_FILES: Mapping[str, type[FileSettings]] = {
    "memory_compaction": CompactionConfig,
    "thinking": ThinkingConfig,
    "recall": RecallConfig,
    "sleep": SleepConfig,
}
"""The files whose settings ``--set`` can change."""


def write_config(places: Places, target: Path, plan: SimulationPlan) -> None:
    """Copy the world's configuration over the shipped one, and apply a plan's models and settings.

    Recall uses words only: the time at which vectors are ready depends on the machine. Model files
    are those of the world.

    Raises:
        KeepsakeError: The model is unknown, or the configuration cannot be used.
    """
    if places.config.is_dir():
        shutil.copytree(places.config, target, dirs_exist_ok=True)
    profiles = target / "llm.md"
    _write_model(profiles, AGENT, _agent_entries(plan))
    _write_model(profiles, WRITER, _writer_entries(plan))
    for section in parse(profiles):
        if file := section.text("model_file", ""):
            _write(profiles, section.name.lower(), {"model_file": str(places.models / file)})
    load(profiles)
    apply_settings(target, {**plan.all_settings, "recall.chroma": "none"})


def apply_settings(target: Path, settings: Mapping[str, str]) -> None:
    """Write settings by their full names, such as ``thinking.plans``, into a configuration.

    Raises:
        KeepsakeError: A value cannot be used.
    """
    for name, value in settings.items():
        file, _, key = name.partition(".")
        _write(target / f"{file}.md", "", {key: value})
    for file, form in _FILES.items():
        try:
            form.load(target / f"{file}.md")
        except ConfigError as error:
            raise KeepsakeError(f"--set {file}.{error.reason}", error.cure) from error


def _write(path: Path, section: str, values: Mapping[str, str]) -> None:
    text = with_settings(path.read_text(encoding="utf-8"), section, values)
    path.write_text(text, encoding="utf-8")


def _write_model(path: Path, profile: str, entries: Mapping[str, str]) -> None:
    """Let a profile use another model; with no entries it stays as it is."""
    if entries:
        _write(path, profile, {**dict.fromkeys(_KEYS, ""), **entries})


def _agent_entries(plan: SimulationPlan) -> dict[str, str]:
    """Return the entries of a profile that select ``--model``; none for the vault's own."""
    if plan.model == SCRIPTED:
        return {"provider": SCRIPTED, "seed": str(plan.seed)}
    return _server_entries("--model", plan.model, f"{SCRIPTED}, {_MODELS}")


def _writer_entries(plan: SimulationPlan) -> dict[str, str]:
    """Return the entries of a profile that select ``--writer``; none for the vault's own."""
    if plan.writer == NO_MODEL:
        return {"provider": NO_MODEL}
    return _server_entries("--writer", plan.writer or OWN, f"{NO_MODEL}, {_MODELS}")


def _server_entries(option: str, model: str, known: str) -> dict[str, str]:
    """Return the entries of a profile that select the model of a server."""
    provider, _, rest = model.partition(":")
    name, _, host = rest.partition("@")
    if name and (provider == OLLAMA or (provider == OPENAI and host)):
        return {"provider": provider, "model": name, "host": host}
    if model != OWN:
        raise KeepsakeError(f"{option} {model!r} is unknown", f"Use one of: {known}")
    return {}


def settings_from(given: Iterable[str]) -> dict[str, str]:
    """Parse settings written as ``key=value`` or ``file.key=value``; return them by full name.

    Raises:
        KeepsakeError: A name is unknown, or in several files; the message lists the names.
    """
    known = [f"{file}.{each.name}" for file, of in _FILES.items() for each in settings_of(of)]
    found = {}
    for each in given:
        key, _, value = (part.strip() for part in each.partition("="))
        names = [name for name in known if key in (name, name.partition(".")[2])]
        if not value or len(names) != 1:
            cure = f"Write --set key=value, with one of {', '.join(names or known)}"
            raise KeepsakeError(f"--set {each!r} is not a known setting with a value", cure)
        found[names[0]] = value
    return found
