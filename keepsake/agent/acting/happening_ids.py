"""The ids of happenings: one for each, the same in the archives of all who perceive it."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.agent.runtime import now

_last: tuple[datetime, int] = (datetime.min.replace(tzinfo=UTC), 0)


def new_id() -> str:
    """Return an id for something that happens now: ``20261121194500123456-0``.

    It is made from the runtime's clock, not at random, so that a simulation with the same seed
    writes the same archives. The number tells happenings of the same microsecond apart.
    """
    global _last  # noqa: PLW0603 - ids are unique in the process
    moment = now().astimezone(UTC)
    at, count = _last
    count = count + 1 if moment == at else 0
    _last = (moment, count)
    return f"{moment:%Y%m%d%H%M%S%f}-{count}"
