"""For all tests."""

from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair, not the test's.
settings.register_profile("keepsake", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("keepsake")
