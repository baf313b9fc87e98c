"""Reads what somebody wrote as a memory's own settings: ``--set window=32``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from keepsake.errors import ConfigError, KeepsakeError
from keepsake.markdown_config import ConfigSection, Setting


def read[C](config: type[C], written: Mapping[str, str]) -> C:
    """Settings as a dataclass that has a field with a default for each of them.

    Bounds come from :func:`keepsake.markdown_config.between`.

    Raises:
        KeepsakeError: A value or a name is wrong; says which, and what there is.
    """
    section = _section(written)
    return plainly(lambda: section.into(config))


def plainly[T](reading: Callable[[], T]) -> T:
    """What ``reading`` gives; what it refuses is told without a file's name and line.

    Raises:
        KeepsakeError: A setting is wrong.
    """
    try:
        return reading()
    except ConfigError as error:
        raise KeepsakeError(f"A memory's setting: {error.reason}", error.cure) from error


def _section(written: Mapping[str, str]) -> ConfigSection:
    entries = {key: Setting(value, 1) for key, value in written.items()}
    return ConfigSection(Path("settings"), "", 1, entries)
