"""The child process of the embedded model, and its supervisor."""

from __future__ import annotations

import logging
import os

from game.child.supervisor import ChildKind, Patience, Supervisor
from game.llm import weights
from game.mind.errors import ModelError, ModelUnavailable
from game.paths import Places

__all__ = ["Embedded", "Patience"]

log = logging.getLogger("keepsake.llm")


class Embedded(Supervisor[ModelError]):
    """Looks after the process that serves the embedded model of one home.

    See :class:`game.child.supervisor.Supervisor` for the other arguments.

    Args:
        places: Folders and ports of this copy.
    """

    def __init__(
        self,
        places: Places,
        watch_pid: int | None = None,
        *,
        grace: float = 20.0,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(_kind(places), places, watch_pid, grace=grace, patience=patience)


def _kind(places: Places) -> ChildKind[ModelError]:
    return ChildKind(
        name="embedded model",
        tag="Model",
        logger=log,
        module="game.llm.embedded_server",
        port=places.ports.model,
        pid_file=places.model_pid,
        log_file=places.logs / "model.log",
        health="/health",
        off_cure="Name it as a provider in llm.md and start the game",
        arguments=lambda: _arguments(places),
        family=ModelError,
        unavailable=ModelUnavailable,
    )


def _arguments(places: Places) -> list[object]:
    """The weights, put together if they are not yet, and how many threads may read and write."""
    cores = os.cpu_count() or 1
    readers, writers = max(1, min(4, cores)), max(1, min(4, cores // 2))
    model = weights.ensure(places.models)
    return ["--model", model, "--threads", readers, "--writers", writers]
