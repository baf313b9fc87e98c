"""Makes what a memory works with from the arguments of a program."""

from __future__ import annotations

from pathlib import Path

from keepsake.errors import NameRefused, refusing, require
from keepsake.files import OWN
from keepsake.language.perception import fit_name, one_line
from keepsake.library.opened import INDEX
from keepsake.ports import Embedder
from keepsake.recall.stores import VectorStore

PROFILE = "profile.md"
"""The file of an agent's persona, in its folder."""
_MOST_NAME = 48
"""The most characters of an agent's name, which is also the name of a folder."""
_UNSAFE = frozenset("/\\")
"""Characters that would make a path of a name: the index has a folder of that name."""


def agent_name(name: str) -> str:
    """Return the name as prompts show it.

    Raises:
        NameRefused: It has no letter, is too long, or has characters that part a name from a text.
    """
    clean = one_line(name)
    is_path = clean.startswith(".") or not _UNSAFE.isdisjoint(clean)
    if not clean or fit_name(clean) != clean or is_path or len(clean) > _MOST_NAME:
        cure = f'Pass name="Mira": 1 to {_MOST_NAME} letters, digits, spaces, hyphens, apostrophes'
        raise NameRefused(f"An agent cannot be called {name[:60]!r}", cure)
    return clean


def profile_in(folder: Path) -> str:
    """Return the persona in an agent's folder; empty if there is none.

    Raises:
        KeepsakeError: The file cannot be read.
    """
    path = folder / PROFILE
    cure = "Save it as UTF-8, and fix its permissions"
    with refusing(f"The persona in {path} cannot be read", cure, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def embedder_of(given: str | Embedder | None) -> Embedder | None:
    """Return the embedder, with a cache.

    Raises:
        KeepsakeError: The name is none, or the extra with the model is not installed.
    """
    if given is None:
        return None
    # It imports the clients of embedding servers.
    from keepsake.models.embedders import CachedEmbedder, named_embedder  # noqa: PLC0415 - slow
    from keepsake.models.profiles import EMBEDDED  # noqa: PLC0415 - as above

    if given == EMBEDDED:
        require("vectors")
    made = named_embedder(given) if isinstance(given, str) else given
    return None if made is None else CachedEmbedder(made)


def vectors_of(folder: Path) -> VectorStore:
    """Return where the vectors of a memory are kept."""
    from keepsake.recall.sqlite_vectors import SqliteVectors  # noqa: PLC0415 - loads numpy

    return SqliteVectors(folder / OWN / INDEX / "vectors.db")
