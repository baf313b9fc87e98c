"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path
from evennia.web.urls import urlpatterns as evennia_urlpatterns

urlpatterns = [
    path("admin/", include("evennia.web.admin.urls")),
    *evennia_urlpatterns,
]
