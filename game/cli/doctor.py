"""``keepsake doctor``: looks for what is wrong and names the cure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from game.cli import (
    checks_index,
    checks_log,
    checks_machine,
    checks_models,
    checks_tokens,
    checks_vault,
)
from game.cli.finding import Finding
from game.paths import Places

type Check = Callable[[Places], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    *checks_machine.CHECKS,
    *checks_vault.CHECKS,
    *checks_models.CHECKS,
    *checks_tokens.CHECKS,
    *checks_index.CHECKS,
    *checks_log.CHECKS,
)


def examine(here: Places) -> list[Finding]:
    """Run every check, in order."""
    return [finding for check in CHECKS for finding in check(here)]
