"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path, re_path
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web.api import actions
from game.web.api.answers import address, looking, nowhere
from game.web.api.openapi import OPERATIONS
from game.web.site import pages
from game.web.site.log_in import RegisterView

urlpatterns = [
    *pages.urlpatterns,
    *looking,
    *(address(each, actions) for each in OPERATIONS if each.method == "post"),
    re_path(r"^agents/api(/.*)?$", nowhere),
    path("agents/<path:rest>", pages.elsewhere),
    path("admin/", include("evennia.web.admin.urls")),
    path("auth/register", RegisterView.as_view(), name="register"),
    *evennia_urlpatterns,
]
