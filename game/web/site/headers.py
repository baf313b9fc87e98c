"""What answers carry beside what they say: whence they may load, who may frame or keep them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponseBase

_NO_FRAME = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
SITE_HEADERS: dict[str, str] = {
    "Content-Security-Policy": _NO_FRAME,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""What every answer of the site carries, Evennia's own pages included, which load from elsewhere:
nobody can put a page with a password in a frame of theirs."""
HEADERS: dict[str, str] = SITE_HEADERS | {
    "Content-Security-Policy": f"default-src 'self'; img-src 'self' data:; {_NO_FRAME}",
    "Cache-Control": "no-store",
}
"""What every answer about agents carries: nothing from elsewhere, in no frame, kept by nobody."""
_STRICT = ("login", "logout")
"""Names of the addresses whose pages are Keepsake's own, as those about agents are."""


def with_headers(answer: HttpResponseBase, headers: Mapping[str, str]) -> HttpResponseBase:
    """The same answer with these headers, where it has none of that name."""
    for name, value in headers.items():
        answer.headers.setdefault(name, value)
    return answer


class SiteHeaders:
    """Django's middleware that puts them on, whoever has answered."""

    def __init__(self, answer_of: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._answer_of = answer_of

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer."""
        answer = self._answer_of(request)
        if request.is_secure():
            for cookie in getattr(answer, "cookies", {}).values():
                cookie["secure"] = True
        match = request.resolver_match  # None where there is no such address
        strict = match is not None and match.view_name in _STRICT
        return with_headers(answer, HEADERS if strict else SITE_HEADERS)
