"""When agents sleep, and what sleep may cost, from ``vault/config/sleep.md``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import merged
from game.mind.retired_settings import current_settings


@dataclass(frozen=True, slots=True)
class SleepConfig:
    """Each is explained in the file.

    Attributes:
        sleep: Whether agents tire at all.
        awake_hours: Hours awake after which an agent is tired.
        awake_tokens: Tokens read and written since its last sleep after which it is tired;
            0: however many.
        quiet_minutes: How long nobody may have spoken to it before it goes to bed.
        sleep_hours: How long it sleeps.
        wake_hour: The hour of the day, 0 to 23 by the machine's own clock, at which it wakes
            at the latest.
        profile: The model profile in ``llm.md`` that works in sleep.
        calls: The most model calls of one sleep.
        reflect_after: Importance that has to gather before it reflects.
        questions: The most questions of one reflection.
        dream: Whether it dreams.
    """

    sleep: bool = True
    awake_hours: float = 16.0
    awake_tokens: int = 400_000
    quiet_minutes: float = 3.0
    sleep_hours: float = 8.0
    wake_hour: int = 7
    profile: str = "summarizer"
    calls: int = 24
    reflect_after: int = 60
    questions: int = 3
    dream: bool = True


def load_sleep_config(path: Path) -> SleepConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = current_settings(merged(path), SleepConfig), SleepConfig()
    return SleepConfig(
        sleep=read.flag("sleep", default.sleep),
        awake_hours=read.number("awake_hours", default.awake_hours, low=0.1, high=1000.0),
        awake_tokens=read.integer("awake_tokens", default.awake_tokens),
        sleep_hours=read.number("sleep_hours", default.sleep_hours, low=1.0, high=24.0),
        wake_hour=read.integer("wake_hour", default.wake_hour, high=23),
        profile=read.text("profile", default.profile),
        calls=read.integer("calls", default.calls, high=1000),
        dream=read.flag("dream", default.dream),
    )
