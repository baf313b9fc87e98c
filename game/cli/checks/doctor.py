"""``keepsake doctor``: looks for what is wrong and names the cure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from game.cli.checks import database as checks_database
from game.cli.checks import index as checks_index
from game.cli.checks import log as checks_log
from game.cli.checks import machine, memories, models, tokens, vault
from game.cli.checks.finding import Finding
from game.cli.world import processes
from game.paths import Places

type Check = Callable[[Places], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    *machine.CHECKS,
    *checks_database.CHECKS,
    *vault.CHECKS,
    *memories.CHECKS,
    *models.CHECKS,
    *tokens.CHECKS,
    *checks_index.CHECKS,
    *checks_log.CHECKS,
)


def examine(asked: Places) -> list[Finding]:
    """Run every check, in order, on the copy with that home as it runs."""
    here = processes.actual(asked)
    found = [finding for check in CHECKS for finding in check(here)]
    return [*machine.copy(asked, here), *found]
