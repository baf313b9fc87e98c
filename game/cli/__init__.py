"""The ``keepsake`` command."""
