"""The Django app of the dashboard."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Pages and an API below the address that a game includes ``keepsake.web.urls`` at."""

    name = "keepsake.web"
    label = "keepsake_web"
    verbose_name = "Keepsake's dashboard"
