"""``keepsake doctor``: looks for what is wrong and names the cure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from game.cli.checks import index as checks_index
from game.cli.checks import log as checks_log
from game.cli.checks import machine, models, tokens, vault
from game.cli.checks.finding import Finding
from game.paths import Places

type Check = Callable[[Places], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    *machine.CHECKS,
    *vault.CHECKS,
    *models.CHECKS,
    *tokens.CHECKS,
    *checks_index.CHECKS,
    *checks_log.CHECKS,
)


def examine(here: Places) -> list[Finding]:
    """Run every check, in order."""
    return [finding for check in CHECKS for finding in check(here)]
