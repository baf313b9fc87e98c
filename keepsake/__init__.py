"""Keepsake: language-model agents with a memory that can be opened, checked and undone.

``from keepsake import Memory, Speech`` is the library for any program; see docs/library.md. Each
name is loaded when it is first used.
"""

import importlib

_MODULES = {
    "keepsake.library.memory": ("Memory",),
    "keepsake.library.aio": ("AsyncMemory",),
    "keepsake.library.happenings": ("Speech", "Deed", "Pose", "Sight"),
    "keepsake.happening": ("Person",),
    "keepsake.library.results": (
        "Answer",
        "Forgotten",
        "KnownPerson",
        "MemoryPrompt",
        "RecalledMemory",
        "Status",
        "Summaries",
    ),
    "keepsake.errors": (
        "ArchiveInUse",
        "ArchiveUnwritable",
        "CompactionError",
        "IndexUnavailable",
        "KeepsakeError",
        "ModelError",
        "ModelMissing",
        "ModelUnavailable",
        "NameRefused",
        "NoteRefused",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
_PROFILE = "Profile"

__all__ = [*_HOMES, _PROFILE]  # noqa: PLE0604 - the names are text


def __getattr__(name: str) -> object:
    """Load a public name at its first use."""
    if name == _PROFILE:
        found = importlib.import_module("keepsake.models.profiles").ModelProfile
    elif name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
