"""The turns of a conversation, as public memory benchmarks have them, and when each was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError
from pydantic.dataclasses import dataclass

from keepsake.language.perception import writable
from keepsake.recall.query import read

NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_FORMATS = (
    *("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S"),
    *("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d"),
)
"""How the public memory benchmarks write a time."""


def _plain(written: Any) -> Any:
    """A text that can be written; what is null was left out, as many programs write it."""
    return "" if written is None else writable(written) if isinstance(written, str) else written


type _Text = Annotated[str, BeforeValidator(_plain)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    """One line of a conversation."""

    id: str  # the conversation's own name for it: ``D1:3``
    speaker: _Text = ""  # who said it
    # as the conversation writes it: ``1:56 pm on 8 May, 2023``, ISO 8601 …; one that cannot be read
    # counts as the time of the turn before
    time: _Text = ""
    text: _Text  # what was said
    place: _Text = ""  # where
    # who hears it beside its speaker, by name; none for everybody. An evaluation hands an agent's
    # memory what that agent hears
    hears: tuple[_Text, ...] = ()
    session: _Text = ""  # the talk that it belongs to, where an evaluation counts talks


def times_of(turns: Sequence[ConversationTurn]) -> Iterator[datetime]:
    """When each turn was said: where that cannot be read, at the time of the turn before."""
    before = NO_TIME
    for turn in turns:
        before = moment(turn.time, before) or before
        yield before


def moment(text: str, zone: datetime) -> datetime | None:
    """The date, with its clock time if there is one, that ``text`` is; None if it is none."""
    text = text.strip()
    for form in ("", *_FORMATS):
        try:
            time = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return time if time.tzinfo else time.replace(tzinfo=zone.tzinfo)
    return next((start for start, _ in read(text, (), zone).times), None)


def fault_of(error: ValidationError) -> str:
    """The first thing that is wrong with a file, and where: ``turns[0].id: Field required``."""
    first = error.errors()[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return ": ".join(filter(None, ("".join(parts).removeprefix("."), first["msg"])))
