"""How a model server is, as commands, pages and metrics show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keepsake.models.queue import Priority
from keepsake.models.recording import Figures

READY, UNASKED = "ready", "not asked yet"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server, as ``@llm-status`` shows it."""

    provider: str  # ``embedded``, ``ollama``, ``openai``
    host: str  # its address
    # profile and model of all that is asked there, such as ``agent: llama3``
    models: tuple[str, ...]
    kind: str  # what the server is, and the form and the size of its prompts
    health: str  # ``ready``, or what is wrong and what to do
    waiting: Mapping[Priority, int]  # jobs that wait, by priority
    running: int  # calls in flight
    in_flight: int  # calls that may be in flight at once
    figures: Figures  # counts since the start
    drained: bool = False  # whether it gets no new calls, by command
    agents: int = 0  # agents that are kept there for the sake of its cache
    moved: int = 0  # calls that it did not take and that went on at another server
    notes: tuple[str, ...] = ()  # what calls have shown that people should know
