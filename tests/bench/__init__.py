"""Measurements: what Keepsake costs beside what it is compared with, in one run."""
