"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Agents that remember."""

    name = "keepsake.contrib.evennia"
    label = "keepsake"
    verbose_name = "Keepsake"
