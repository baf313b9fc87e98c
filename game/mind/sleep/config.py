"""When agents sleep, and what sleep may cost, from ``vault/config/sleep.md``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import between, load_settings


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
    awake_hours: float = between(16.0, low=0.1, high=1000.0)
    awake_tokens: int = 400_000
    quiet_minutes: float = 3.0
    sleep_hours: float = between(8.0, low=1.0, high=24.0)
    wake_hour: int = between(7, high=23)
    profile: str = "summarizer"
    calls: int = between(24, high=1000)
    reflect_after: int = 60
    questions: int = 3
    dream: bool = True


def load_sleep_config(path: Path) -> SleepConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    return load_settings(path, SleepConfig)[0]
