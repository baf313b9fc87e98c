"""Finds the model that ``provider: auto`` stands for: the best one on this machine.

The order is: a server named in the environment, an Ollama on this machine, a GGUF file in the
home's folder ``models``, no model. The section ``detection`` of ``models.md`` ranks the models.
Example::

    found = Detection(places.models, places.config / "models.md").find()
    print(found.line)  # qwen3:8b (an Ollama answers at http://127.0.0.1:11434)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psutil

from keepsake.errors import ConfigError, ModelError, ModelMissing
from keepsake.logs import Subsystem, get_logger
from keepsake.markdown_config import ConfigFile
from keepsake.models.catalogue import Catalogue, Families, index_of, load_catalogue
from keepsake.models.http import base_address, client_settings
from keepsake.models.local.embedded import require_gguf
from keepsake.models.ollama import ollama_host
from keepsake.models.openai import api_key
from keepsake.models.profiles import EMBEDDED, NOTHING_FOUND, OLLAMA, OPENAI, FoundModel, Profiles
from keepsake.models.transport import limited, within
from keepsake.paths import Places

log = get_logger(Subsystem.DETECTION)

OPENAI_HOST = "KEEPSAKE_OPENAI_HOST"
OPENAI_MODEL = "KEEPSAKE_OPENAI_MODEL"
QUERY_SECONDS = 1.5
"""Seconds that a server may take to list its models, from the first byte to the last."""
KEEP_SECONDS = 60.0
"""Seconds that a found server may be unreachable before the next best model replaces it."""
MEMORY_SHARE = 0.7
"""The share of this machine's memory that a model may use; a larger model would not run here."""


class Detection:
    """The search for the best model. It keeps the found model while its server is briefly away.

    Args:
        models: The home's folder of GGUF files.
        config: ``models.md``.
        clock: Monotonic seconds.

    Attributes:
        catalogue: The current content of ``models.md``; empty if it cannot be read.
    """

    def __init__(
        self, models: Path, config: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._models = models
        self._clock = clock
        self.catalogue = ConfigFile(config, load_catalogue, Catalogue(), _log_problem)
        self._found: FoundModel | None = None
        self._answered = 0.0

    def find(self) -> FoundModel:
        """Return the best model now; blocks for a few seconds at most.

        A found server that is unreachable keeps its place for :data:`KEEP_SECONDS`.
        """
        catalogue = self.catalogue.current
        found = self._find_server(catalogue.families)
        if found is not None:
            self._answered = self._clock()
        elif (
            (before := self._found) is not None
            and before.host
            and self._clock() - self._answered < KEEP_SECONDS
        ):
            return before
        found = found or self._find_file(catalogue.families)
        if catalogue.form_of(found.model or found.model_file):  # small models only talk
            found = replace(found, writes=False)
        self._found = found
        return found

    def _find_server(self, families: Families) -> FoundModel | None:
        if host := base_address(os.environ.get(OPENAI_HOST, "").strip()):
            host = host if "//" in host else f"http://{host}"
            model = os.environ.get(OPENAI_MODEL, "").strip()
            key = api_key()
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            listed = [] if model else _fetch_list(f"{host}/v1/models", "data", headers)
            names = {str(each.get("id")): 0 for each in listed if each.get("id")}
            if chosen := model or _best(names, families):
                return FoundModel(OPENAI, f"{OPENAI_HOST} names {host}", host, chosen)
        named = os.environ.get("OLLAMA_HOST", "").strip()
        host = ollama_host()
        listed = _fetch_list(f"{host}/api/tags", "models")
        # A local Ollama cannot run a model that is larger than this machine's memory.
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
        places = ((index_of(name, families.embedders), name) for name in sizes)
        embedders = [(at, name) for at, name in places if at is not None]
        return FoundModel(OLLAMA, why, host, chosen, embedder=min(embedders, default=(0, ""))[1])

    def _find_file(self, families: Families) -> FoundModel:
        most = _memory()
        files = dict[str, int]()
        for path in self._models.glob("*.gguf"):
            with suppress(ModelMissing):  # not a model
                if (size := require_gguf(path)) <= most:
                    files[path.name] = size
        if chosen := _best(files, families):
            why = f"the best file in {self._models}"
            return FoundModel(EMBEDDED, why, model_file=chosen)
        return NOTHING_FOUND


def detected_profiles(here: Places, path: Path | None = None) -> Profiles:
    """Read the profiles of ``llm.md``, or of another file, and detect the model for them.

    Blocks while it asks servers.
    """
    profiles = Profiles(path or here.config / "llm.md")
    if profiles.detects:
        profiles.use(Detection(here.models, profiles.path.with_name("models.md")).find())
    return profiles


def _log_problem(problem: ConfigError) -> None:
    if problem.path.exists():
        log.error(str(problem), subsystem=Subsystem.CONFIG, exc_info=problem.__cause__)


def _memory() -> int:
    """Return the bytes of memory that a model may use on this machine."""
    return int(psutil.virtual_memory().total * MEMORY_SHARE)


def _best(sizes: Mapping[str, int], families: Families) -> str:
    """Return the name of the best model, by name and size; empty if there is none."""
    ranked = ((families.rank(name, size), name) for name, size in sizes.items())
    return max(((rank, name) for rank, name in ranked if rank is not None), default=(0, ""))[1]


def _fetch_list(url: str, field: str, headers: Mapping[str, str] = {}) -> list[Mapping[str, Any]]:
    """Return a server's list; empty if nothing answers there, or something else does."""
    refused = httpx.HTTPError, httpx.InvalidURL, ModelError, ValueError, RecursionError
    try:
        with (
            limited(within(QUERY_SECONDS)),
            httpx.Client(**client_settings(QUERY_SECONDS, url)) as client,
        ):
            said = client.get(url, headers=headers).json()
    except refused:
        return []
    rows = said.get(field) if isinstance(said, dict) else ()
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
