"""Benches that live in the game: each measures in a process of its own, set up for Evennia."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from collections.abc import Callable, Iterator
from dataclasses import asdict

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure


def figures_of(module: str, *arguments: str, seconds: float) -> Iterator[Figure]:
    """Run a bench as a module of its own, which ends in :func:`print_figures`.

    Args:
        module: Its name.
        arguments: What it is told.
        seconds: After these something hangs.

    Raises:
        CalledProcessError: It failed; what it said is on the screen.
        TimeoutExpired: It hung.
    """
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        timeout=seconds,
        check=True,
    )
    for each in json.loads(child.stdout.splitlines()[-1]):
        yield Figure(**each)


def print_figures(measure: Callable[[], list[Figure]]) -> None:
    """Set up Evennia in this process, measure, and print the figures as JSON."""
    from tests.world import evennia_up  # noqa: PLC0415 - sets the environment of the process

    evennia_up.start()
    with evennia_up.database():
        figures = measure()
    print(json.dumps([asdict(each) for each in figures]))


def live(case: unittest.TestCase) -> None:
    """Run a world that is made like a test.

    Raises:
        RuntimeError: Something in it failed.
    """
    result = unittest.TestResult()
    unittest.TestSuite([case]).run(result)  # what a class is set up with, too
    for _, problem in result.errors + result.failures:
        raise RuntimeError(problem)
