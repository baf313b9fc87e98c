"""Makes the pictures of README and docs from a real world: ``python -m tests.pictures``."""
