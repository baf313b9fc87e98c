"""The settings of a memory, by the names of memory_compaction.md and recall.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keepsake.agent.settings import RecallConfig
from keepsake.errors import KeepsakeError
from keepsake.markdown_config import FileSettings, settings_of
from keepsake.memory.config import CompactionConfig
from keepsake.paths import SHIPPED_CONFIG

type Given = Mapping[str, str | int | float]
"""Settings by name: ``{"immediate_window": 32, "memories": 8}``."""

_NOT_HERE = {"profile", "chroma"}
"""Settings that only a game has."""
_FILES: Mapping[str, type[FileSettings]] = {
    "memory_compaction.md": CompactionConfig,
    "recall.md": RecallConfig,
}


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """When a memory is compacted, and how much of it a prompt recalls."""

    compaction: CompactionConfig = field(default_factory=CompactionConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)

    @classmethod
    def of(cls, given: Given) -> MemorySettings:
        """Read settings by name.

        Raises:
            KeepsakeError: A name is unknown, or a value cannot be used.
        """
        if not given:  # the usual case: the files need not be parsed
            return cls()
        known = {
            name: {each.name for each in settings_of(config)} - _NOT_HERE
            for name, config in _FILES.items()
        }
        if unknown := ", ".join(sorted(given.keys() - set().union(*known.values()))):
            names = ", ".join(sorted(set().union(*known.values())))
            raise KeepsakeError(f"There is no setting {unknown}", f"There are: {names}")
        loaded: list[FileSettings] = [
            config.load(
                SHIPPED_CONFIG / name,
                {key: str(value) for key, value in given.items() if key in known[name]},
            )
            for name, config in _FILES.items()
        ]
        compaction, recall = loaded
        assert isinstance(compaction, CompactionConfig)
        assert isinstance(recall, RecallConfig)
        return cls(compaction, recall)
