"""The turns of a conversation in the form of public memory benchmarks, and their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError
from pydantic.dataclasses import dataclass

from keepsake.language.perception import writable
from keepsake.recall.query import query_of

NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of turns before the first one that has a readable time."""
_FORMATS = (
    "%I:%M %p on %d %B, %Y",
    "%d.%m.%Y, %H:%M:%S",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
)
"""The time formats of the public memory benchmarks."""


def _storable(written: Any) -> Any:
    """Return a text that can be stored; null, which many programs write, counts as empty."""
    if written is None:
        return ""
    return writable(written) if isinstance(written, str) else written


type _Text = Annotated[str, BeforeValidator(_storable)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    """One line of a conversation."""

    id: str  # the turn's id in the conversation: ``D1:3``
    speaker: _Text = ""  # who said it
    # as the file writes it: ``1:56 pm on 8 May, 2023``, ISO 8601 …; an unreadable time counts as
    # the time of the turn before
    time: _Text = ""
    text: _Text  # what was said
    place: _Text = ""  # where it was said
    # names of those who hear it beside the speaker; empty for everybody. An evaluation gives an
    # agent's memory only the turns that this agent hears
    hears: tuple[_Text, ...] = ()
    session: _Text = ""  # the session it belongs to, for measures that count sessions


def times_of(turns: Sequence[ConversationTurn]) -> Iterator[datetime]:
    """Yield the time of each turn; a turn without a readable time has that of the turn before."""
    before = NO_TIME
    for turn in turns:
        before = parse_time(turn.time, before) or before
        yield before


def parse_time(text: str, zone: datetime) -> datetime | None:
    """Return the date in ``text``, with its clock time if there is one; None if it has no date."""
    text = text.strip()
    for form in ("", *_FORMATS):
        try:
            time = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return time if time.tzinfo else time.replace(tzinfo=zone.tzinfo)
    return next((start for start, _ in query_of(text, (), zone).times), None)


def first_error(error: ValidationError) -> str:
    """Return the first error in a file and its place: ``turns[0].id: Field required``."""
    first = error.errors()[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return ": ".join(filter(None, ("".join(parts).removeprefix("."), first["msg"])))
