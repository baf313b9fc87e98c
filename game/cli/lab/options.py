"""What a replay is asked for on the command line."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What a replay is asked for.

    Attributes:
        agent: Whose life.
        strategies: Templates, parted by commas; so are the next three.
        windows: Pairs of windows.
        high: High marks.
        low: Low marks.
        settings: Other settings, ``key=value,value``.
        model: The profile that writes summaries; ``none`` for rules.
        questions: How many are asked, at most.
        overhead: Tokens of a prompt beside the memory; None for what the log says.
        jobs: Processes; None for one a core.
        chart: Where a chart goes.
        csv: Where the figures go.
        as_json: Whether the figures are printed as JSON.
    """

    agent: str
    strategies: str = ""
    windows: str = ""
    high: str = ""
    low: str = ""
    settings: tuple[str, ...] = ()
    model: str = "none"
    questions: int = 20
    overhead: int | None = None
    jobs: int | None = None
    chart: Path | None = None
    csv: Path | None = None
    as_json: bool = False
