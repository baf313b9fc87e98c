"""The dashboard's addresses for a record: all that looks, nothing that acts."""

from django.urls import path, re_path
from django.views.generic import RedirectView

from game.web.api.answers import looking, nowhere
from game.web.site import pages

urlpatterns = [
    path("", RedirectView.as_view(url="/agents/"), name="index"),
    *pages.urlpatterns,
    *looking,
    re_path(r"^agents/api(/.*)?$", nowhere),
    path("agents/<path:rest>", pages.elsewhere),
]
