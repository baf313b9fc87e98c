"""Benches inside the game: each measures in its own process, set up for Evennia."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from collections.abc import Callable, Iterator
from dataclasses import asdict

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure


def figures_of(module: str, *, seconds: float) -> Iterator[Figure]:
    """Run a bench as a module of its own, which ends in :func:`print_figures`."""
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module],
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
    """Run a world that is written as a test case, and raise its failures."""
    result = unittest.TestResult()
    unittest.TestSuite([case]).run(result)  # includes the setup of the class
    for _, problem in result.errors + result.failures:
        raise RuntimeError(problem)
