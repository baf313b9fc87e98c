"""For all tests."""

import gc
import os

from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair, not the test's.
settings.register_profile(
    "keepsake",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # New examples each time find new faults, but nobody whose change is checked wants them.
    derandomize="CI" in os.environ,
)
settings.load_profile("keepsake")


def pytest_collection_finish() -> None:
    """Spare what was loaded from being looked through each time garbage is collected.

    Evennia's test case collects all of it after each test, and all of the suite is in memory.
    """
    gc.freeze()
