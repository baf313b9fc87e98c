"""The present time, by which what happens in the world is dated."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.agent.runtime import running, runtime


def now() -> datetime:
    """The present time by the clock of the event log, in UTC."""
    return (runtime().clock.now() if running() else datetime.now(UTC)).astimezone(UTC)
