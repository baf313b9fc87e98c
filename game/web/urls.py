"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path, re_path
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web import pages
from game.web.access import nowhere
from game.web.api import addresses
from game.web.log_in import RegisterView

urlpatterns = [
    *pages.urlpatterns,
    path("agents/api/", include((addresses(), "api"), namespace="api-1")),
    re_path(r"^agents/api(/.*)?$", nowhere),
    path("agents/<path:rest>", pages.elsewhere),
    path("admin/", include("evennia.web.admin.urls")),
    path("auth/register", RegisterView.as_view(), name="register"),
    *evennia_urlpatterns,
]
