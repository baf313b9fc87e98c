"""tiktoken, if somebody has installed it and its data is on this machine already.

tiktoken fetches the data of an encoding from the network when its cache has none, or a
damaged one. So the cache is looked at first, and only what lies there whole is used.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

log = logging.getLogger("keepsake.llm")

DATA: Mapping[str, tuple[str, str]] = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""The encodings: what tiktoken's cache calls the file, and the SHA-256 of its bytes."""


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where tiktoken keeps its data; None when it is told to keep none."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in environ:
            return Path(environ[name]) if environ[name] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def cached(folder: Path | None) -> list[str]:
    """The encodings whose data lies in the cache, whole."""
    return [name for name in DATA if folder is not None and _whole(folder, name)]


def installed() -> bool:
    """Whether there is a tiktoken at all; it is no dependency of the game."""
    return find_spec("tiktoken") is not None


class LocalTokenizer:
    """Counts with tiktoken; blocks, for a second the first time. Safe in any thread."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._encodings: dict[str, Any] = {}

    def count(self, texts: Sequence[str], model: str = "") -> list[int] | None:
        """Tokens of each text; None where tiktoken or its data is missing.

        Args:
            texts: What to count.
            model: The model's name: OpenAI's get their own encoding, others the usual one.
        """
        if (encoding := self._encoding(model)) is None:
            return None
        return [len(encoding.encode_ordinary(text)) for text in texts]

    def _encoding(self, model: str) -> Any:
        """Looked for once a model and kept, whatever was found."""
        with self._lock:
            if model not in self._encodings:
                self._encodings[model] = _load(model, cache_folder(self._environ))
            return self._encodings[model]


def _whole(folder: Path, name: str) -> bool:
    file, digest = DATA[name]
    try:
        return hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _load(model: str, folder: Path | None) -> Any:
    names = cached(folder) if installed() else []
    if not names:
        return None
    tiktoken: Any = import_module("tiktoken")  # optional, and slow: not before it is needed
    try:
        wanted = tiktoken.encoding_name_for_model(model)
    except KeyError:
        wanted = "cl100k_base"
    try:
        return tiktoken.get_encoding(wanted if wanted in names else names[0])
    except Exception as error:  # whatever another version of it makes of the data
        log.warning("[Model] tiktoken cannot be used: %r", error)
        return None
