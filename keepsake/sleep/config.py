"""When agents sleep, and what sleep may cost, from ``vault/config/sleep.md``."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.markdown_config import FileSettings, between


@dataclass(frozen=True, slots=True)
class SleepConfig(FileSettings):
    """Each is explained in the file."""

    sleep: bool = True
    awake_hours: float = between(16.0, low=0.1, high=1000.0)
    awake_tokens: int = 400_000
    quiet_minutes: float = 3.0  # how long nobody may have spoken to it before it goes to bed
    sleep_hours: float = between(8.0, low=1.0, high=24.0)
    wake_hour: int = between(7, high=23)
    profile: str = "summarizer"
    calls: int = between(24, high=1000)
    reflect_after: int = 60  # importance that has to gather before it reflects
    insights: int = 3  # the most that one reflection brings
