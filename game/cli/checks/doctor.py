"""``keepsake doctor``: looks for what is wrong and names the cure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from game.cli.checks import database, index, log, machine, memories, models, tokens, vault
from game.cli.checks.finding import Finding
from game.cli.world import processes
from keepsake.paths import Places

type Check = Callable[[Places], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    *(machine.python, machine.room, machine.secrets, machine.metrics),
    *(machine.listening, machine.world, database.database, vault.configuration),
    *(memories.waiting, memories.archives, memories.files),
    *(models.embedded_parts, models.servers, models.embedding),
    *(tokens.budget, index.words, index.vectors, log.event_log),
)


def examine(asked: Places) -> list[Finding]:
    """Run every check, in order, on the copy with that home as it runs."""
    here = processes.actual(asked)
    found = [finding for check in CHECKS for finding in check(here)]
    return [*machine.copy(asked, here), *found]
