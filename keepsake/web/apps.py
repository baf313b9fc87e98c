"""The Django app of the dashboard: its templates, its static files, and its metrics."""

from __future__ import annotations

from django.apps import AppConfig

from keepsake.contrib.evennia.apps import at_agents_start
from keepsake.events.log import Subscribers


class DashboardConfig(AppConfig):
    """The dashboard of a game whose ``INSTALLED_APPS`` names ``keepsake.web``."""

    name = "keepsake.web"
    label = "keepsake_web"
    verbose_name = "Keepsake: the dashboard"

    def ready(self) -> None:
        """Have the metrics listen to events from the start of the agents on."""
        if _listen not in at_agents_start:
            at_agents_start.append(_listen)


def _listen(subscribers: Subscribers) -> None:
    # It imports the game's objects, which Evennia sets up after Django's apps.
    from keepsake.web.watching import watching  # noqa: PLC0415 - after the set-up

    watching().listen_to(subscribers)
