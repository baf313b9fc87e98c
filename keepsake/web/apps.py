"""The Django app of the dashboard, to be named in a game's ``INSTALLED_APPS``."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Gives Django the pages' templates and static files; Evennia has an app ``web`` already."""

    name = "keepsake.web"
    label = "keepsake_web"
