"""The configuration of a simulation's vault: a copy of the world's, with a model of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.books.journal import JournalConfig
from keepsake.books.people import PeopleConfig
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.markdown_config import FileSettings, parse, settings_of, with_settings
from keepsake.memory.config import CompactionConfig
from keepsake.models.profiles import EMBEDDED, OLLAMA, OPENAI, SCRIPTED, load
from keepsake.paths import REPOSITORY

AGENT = "agent"
"""The profile that agents think by."""
OWN = "vault"
"""As a model: whatever ``llm.md`` names."""
_MODELS = f"{SCRIPTED}, {OWN} (what llm.md names), {EMBEDDED}, ollama:MODEL or openai:MODEL@HOST"
_KEYS = ("provider", "host", "model", "model_file", "seed")

STRATEGY = "memory_compaction.strategy"
_FILES: Mapping[str, type[FileSettings]] = {
    "memory_compaction": CompactionConfig,
    "thinking": ThinkingConfig,
    "recall": RecallConfig,
    "sleep": SleepConfig,
    "journal": JournalConfig,
    "people": PeopleConfig,
}
"""The files whose settings can be given to a simulation, and what they are read into."""


def copy_config(source: Path, target: Path, model: str, seed: int, models: Path) -> None:
    """Copy the configuration, shipped where there is none, and have that model answer the agents.

    ``model`` is ``scripted`` (by that seed), ``vault`` (as the file is), ``embedded``,
    ``ollama:MODEL``, ``ollama:MODEL@HOST`` or ``openai:MODEL@HOST``. Recall goes by words alone:
    when vectors are there depends on the machine. Files of models are found in ``models``, which
    are the world's own.

    Raises:
        KeepsakeError: There is no such model, or the configuration cannot be used.
    """
    shipped = REPOSITORY / "vault" / "config"
    shutil.copytree(source if source.is_dir() else shipped, target)
    profiles = target / "llm.md"
    text = profiles.read_text(encoding="utf-8")
    if entries := model_entries(model, seed):
        text = with_settings(text, AGENT, dict.fromkeys(_KEYS, "") | entries)
    for section in parse(profiles):
        if file := section.text("model_file", ""):
            own = {"model_file": str(models / file)}
            text = with_settings(text, section.name.lower(), own)
    profiles.write_text(text, encoding="utf-8")
    load(profiles)
    recall = target / "recall.md"
    if recall.exists():
        words = with_settings(recall.read_text(encoding="utf-8"), "", {"chroma": "none"})
        recall.write_text(words, encoding="utf-8")


def model_entries(model: str, seed: int) -> dict[str, str]:
    """What a profile says to have that model answer; nothing for the vault's own.

    Raises:
        KeepsakeError: There is no such model; says which ones there are.
    """
    provider, _, rest = model.partition(":")
    name, _, host = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if model == OWN:
        return {}
    if model == SCRIPTED:
        return {"provider": SCRIPTED, "seed": str(seed)}
    if model == EMBEDDED:
        return {"provider": EMBEDDED}
    if provider == OLLAMA and name:
        return {"provider": OLLAMA, "model": name, **({"host": host} if host else {})}
    if provider == OPENAI and name and host:
        return {"provider": OPENAI, "model": name, "host": host}
    raise KeepsakeError(f"--model is {model!r}", f"Use one of: {_MODELS}")


def settings_from(given: Iterable[str], strategy: str = "") -> dict[str, str]:
    """Settings as they are given, ``key=value`` or ``file.key=value``, by their whole names.

    Raises:
        KeepsakeError: One names no setting, or one that several files have; says which there are.
    """
    known = [f"{file}.{each.name}" for file, of in _FILES.items() for each in settings_of(of)]
    found = {STRATEGY: strategy} if strategy else {}
    for each in given:
        key, equals, value = (part.strip() for part in each.partition("="))
        names = [name for name in known if key in (name, name.partition(".")[2])]
        if not (equals and value and names):
            raise KeepsakeError(
                f"--set {each!r} names no setting and its value",
                f"Write --set key=value, with one of {', '.join(known)}",
            )
        if len(names) > 1:
            raise KeepsakeError(f"--set {each!r} may mean {' or '.join(names)}", "Name the file")
        found[names[0]] = value
    return found


def write_settings(folder: Path, settings: Mapping[str, str]) -> None:
    """Write settings, by their whole names, into the files of a configuration.

    Raises:
        KeepsakeError: A value is wrong, or two do not go together.
    """
    for name, value in settings.items():
        file, _, key = name.partition(".")
        path = folder / f"{file}.md"
        if not path.exists():
            shutil.copyfile(REPOSITORY / "vault" / "config" / path.name, path)
        text = path.read_text(encoding="utf-8")
        path.write_text(with_settings(text, "", {key: value}), encoding="utf-8")
    for file in dict.fromkeys(name.partition(".")[0] for name in settings):
        given = " ".join(f"{key}={settings[key]}" for key in settings if key.startswith(file))
        try:
            _FILES[file].load(folder / f"{file}.md")
        except ConfigError as error:
            raise KeepsakeError(f"--set {given}: {error.reason}", error.cure) from error
