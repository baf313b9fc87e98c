"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web.middleware import RegisterView, adopt_session
from keepsake.web.urls import metrics

urlpatterns = [
    path("agents/", include("keepsake.web.urls")),
    path("metrics", metrics),
    path("admin/", include("evennia.web.admin.urls")),
    path("webclient/session", adopt_session),
    path("auth/register", RegisterView.as_view(), name="register"),
    *evennia_urlpatterns,
]
