"""Which model ``provider: auto`` stands for: the best that can be found on this machine.

In this order: a server that the environment names, an Ollama on this machine, a GGUF file in the
home's folder ``models``; else no model. The section ``detection`` of ``models.md`` says which of
several models is the best. Example::

    found = Detection(places.models, places.config / "models.md").find()
    print(found.line)  # qwen3:8b (an Ollama answers at http://127.0.0.1:11434)
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psutil

from keepsake.errors import ConfigError, ModelMissing
from keepsake.markdown_config import ConfigFile
from keepsake.models.catalogue import Catalogue, Families, load_catalogue, place_of
from keepsake.models.embedded import require_gguf
from keepsake.models.ollama import ollama_host
from keepsake.models.openai import api_key
from keepsake.models.profiles import EMBEDDED, NOTHING_FOUND, OLLAMA, OPENAI, FoundModel, Profiles
from keepsake.paths import Places

log = logging.getLogger("keepsake.models")

OPENAI_HOST, OPENAI_MODEL = "KEEPSAKE_OPENAI_HOST", "KEEPSAKE_OPENAI_MODEL"
LOOK_SECONDS = 1.5
"""How long a server may take to list its models."""
KEEP_SECONDS = 60.0
"""How long a server that was found may stay away until the next best model takes its place."""
MEMORY_SHARE = 0.7
"""The share of this machine's memory that a model may have; a larger one would not run here."""


class Detection:
    """Finds the model, and goes on finding it.

    Args:
        models: The home's folder of GGUF files.
        config: ``models.md``.
        clock: Monotonic seconds.

    Attributes:
        catalogue: What ``models.md`` says now; nothing where it cannot be read.
    """

    def __init__(
        self, models: Path, config: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._models, self._clock = models, clock
        self.catalogue = ConfigFile(config, load_catalogue, Catalogue(), _complain)
        self._found: FoundModel | None = None
        self._answered = 0.0

    def find(self) -> FoundModel:
        """The best model now; blocks for seconds at most.

        A server that was found and is away for a moment is not given up for a worse model.
        """
        catalogue = self.catalogue.current
        found = self._of_a_server(catalogue.families)
        if found is not None:
            self._answered = self._clock()
        elif (
            (before := self._found) is not None
            and before.host
            and self._clock() - self._answered < KEEP_SECONDS
        ):
            return before
        found = found or self._of_a_file(catalogue.families)
        if catalogue.form_of(found.model or found.model_file):  # a small one, which only talks
            found = replace(found, writes=False)
        self._found = found
        return found

    def _of_a_server(self, families: Families) -> FoundModel | None:
        if host := os.environ.get(OPENAI_HOST, "").strip().rstrip("/"):
            host = host if "//" in host else f"http://{host}"
            model = os.environ.get(OPENAI_MODEL, "").strip()
            headers = {"Authorization": f"Bearer {key}"} if (key := api_key()) else {}
            listed = [] if model else _listed(f"{host}/v1/models", "data", headers)
            names = {str(each.get("id")): 0 for each in listed if each.get("id")}
            if chosen := model or _best(names, families):
                return FoundModel(OPENAI, f"{OPENAI_HOST} names {host}", host, chosen)
        named = os.environ.get("OLLAMA_HOST", "").strip()
        host = ollama_host()
        listed = _listed(f"{host}/api/tags", "models")
        # What is larger than this machine's memory does not run here.
        most = _memory() if not named or "//127.0.0.1" in host or "//localhost" in host else None
        sizes = {
            str(each.get("name")): int(each.get("size") or 0)
            for each in listed
            if each.get("name") and (most is None or int(each.get("size") or 0) <= most)
        }
        if not (chosen := _best(sizes, families)):
            return None
        why = f"OLLAMA_HOST names {host}" if named else f"an Ollama answers at {host}"
        why += f"; best of its {len(sizes)} models" if len(sizes) > 1 else ""
        places = ((place_of(name, families.embedders), name) for name in sizes)
        embedders = [(at, name) for at, name in places if at is not None]
        return FoundModel(OLLAMA, why, host, chosen, embedder=min(embedders, default=(0, ""))[1])

    def _of_a_file(self, families: Families) -> FoundModel:
        most, files = _memory(), dict[str, int]()
        for path in self._models.glob("*.gguf"):
            with suppress(ModelMissing):  # it is no model
                if (size := require_gguf(path)) <= most:
                    files[path.name] = size
        if chosen := _best(files, families):
            why = f"the best file in {self._models}"
            return FoundModel(EMBEDDED, why, model_file=chosen)
        return NOTHING_FOUND


def detected_profiles(here: Places, path: Path | None = None) -> Profiles:
    """The profiles of a copy's ``llm.md``, or of another file, with the model that is there now.

    Blocks while servers are asked.
    """
    profiles = Profiles(path or here.config / "llm.md")
    if profiles.detects:
        profiles.use(Detection(here.models, profiles.path.with_name("models.md")).find())
    return profiles


def _complain(problem: ConfigError) -> None:
    if problem.path.exists():
        log.error("[Config] %s", problem)


def _memory() -> int:
    """Bytes that a model may have on this machine."""
    return int(psutil.virtual_memory().total * MEMORY_SHARE)


def _best(sizes: Mapping[str, int], families: Families) -> str:
    """The best of some models by name and size; empty for none."""
    ranked = ((families.rank(name, size), name) for name, size in sizes.items())
    return max(((rank, name) for rank, name in ranked if rank is not None), default=(0, ""))[1]


def _listed(url: str, field: str, headers: Mapping[str, str] = {}) -> list[Mapping[str, Any]]:
    """What a server lists; nothing where none answers, or something else does."""
    try:
        said = httpx.get(url, timeout=LOOK_SECONDS, headers=headers, trust_env=False).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, UnicodeError, RecursionError):
        return []
    rows = said.get(field) if isinstance(said, dict) else ()
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
