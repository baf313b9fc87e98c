"""Gestures that are commands: ``socials.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pydantic import Field, RootModel

from keepsake.agent.agent_log import report
from keepsake.errors import ConfigError
from world.layers import SHIPPED, Layers, layers, table_in


@dataclass(frozen=True, slots=True)
class Social:
    """A gesture.

    Attributes:
        name: The command.
        alone: How it reads; empty if it needs somebody.
        together: How it reads towards somebody; empty if it needs nobody.
    """

    name: str
    alone: str
    together: str


_Command = Annotated[str, Field(pattern=r"^\w+$")]


class _Socials(RootModel[dict[_Command, tuple[str, str]]]):
    """The file ``socials.yaml``: how each gesture reads without somebody, and towards somebody."""


def read_socials(found: Layers | None = None) -> Sequence[Social]:
    """Read and check the gestures of the world.

    Args:
        found: The folders to read; by default those of :func:`world.layers.layers`.

    Raises:
        ConfigError: A file is wrong; with file, line and reason.
    """
    file = table_in("socials.yaml", layers() if found is None else found)
    return [Social(name, *texts) for name, texts in file.read(_Socials).root.items()]


@lru_cache(maxsize=1)
def socials() -> Sequence[Social]:
    """Return the gestures; the shipped ones if those of the own world are wrong.

    They are read once: players get new ones at the next reload of the server.
    """
    try:
        return read_socials()
    except ConfigError as error:  # a player without commands could do nothing
        report(error)
        return read_socials((SHIPPED,))
