"""What an agent lives in: the little that its mind asks of the world around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from twisted.internet.defer import Deferred


class Body(Protocol):
    """The agent itself, as the world has it.

    Attributes:
        pk: None once it has been deleted.
        has_account: Whether a person plays it now.
        db: What is kept with it: ``profile``, ``examples``, ``paused``, ``asleep`` …
        attributes: The same, for what may be missing or is removed.
        location: The room, with its ``contents_get``, ``exits`` and ``msg_contents``; None while
            it is nowhere.
        home: The room where it belongs; None for none.
        contents: What it carries.
        unannounced: Whether no agent is to notice that it comes and goes.
    """

    id: int
    pk: int | None
    key: str
    has_account: bool
    is_asleep: bool
    db: Any
    attributes: Any
    location: Any
    home: Any
    contents: Sequence[Any]
    unannounced: bool

    @property
    def stays(self) -> bool:
        """Whether it must not leave now."""
        ...

    def do(self, line: str) -> Deferred[Any]:
        """Do what a player would type; fires when it is done, or has failed."""
        ...

    def msg(self, text: Any, *, from_obj: Any) -> None:
        """Perceive something; a text, or one with facts of it: ``type``, ``to`` …."""
        ...

    def move_to(self, destination: Any, *, quiet: bool, move_type: str) -> Any:
        """Be somewhere else at once."""
        ...

    def at_minute(self) -> None:
        """A minute has passed."""
        ...

    def tell_builders(self, text: str) -> None:
        """Show a line to every builder who is connected."""
        ...


type FindBody = Callable[[], Body | None]
"""Gives the agent as it is now; None if it has been deleted."""


@dataclass(frozen=True, slots=True)
class Life:
    """Whose mind it is."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # gives the agent as it is now
    # those of all people and places; quick, on the reactor thread
    names: Callable[[], frozenset[str]]
    memory: str = ""  # what its memory is called, as its profile says; empty for ours
