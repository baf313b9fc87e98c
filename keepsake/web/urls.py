"""Addresses of the dashboard: ``path("agents/", include("keepsake.web.urls"))``."""

from django.urls import include, path, re_path

from keepsake.web import pages
from keepsake.web.access import nowhere
from keepsake.web.api import addresses

urlpatterns = [
    *pages.urlpatterns,
    path("api/", include((addresses(), "api"), namespace="api-1")),
    re_path(r"^api(/.*)?$", nowhere),
    path("<path:rest>", pages.elsewhere),
]
