"""The dashboard's addresses for a record: all that looks, nothing that acts."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, re_path

from game.web.api.answers import looking, nowhere
from game.web.site import pages


def _home(_: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/agents/")


urlpatterns = [
    path("", _home, name="index"),
    *pages.urlpatterns,
    *looking,
    re_path(r"^agents/api(/.*)?$", nowhere),
    path("agents/<path:rest>", pages.elsewhere),
]
