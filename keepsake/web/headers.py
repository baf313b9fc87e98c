"""What an answer carries, and from where a request comes."""

from __future__ import annotations

from collections.abc import Mapping

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


def with_headers(answer: HttpResponseBase, headers: Mapping[str, str]) -> HttpResponseBase:
    """The same answer with these headers, where it has none of that name."""
    for name, value in headers.items():
        answer.headers.setdefault(name, value)
    return answer


def address_of(request: HttpRequest) -> str:
    """From where it really comes: the Portal says so, whatever a browser claims."""
    # Evennia's middleware reads the Portal's word; the connection itself is always the Portal's.
    return str(getattr(request, "origin_ip", "") or request.META.get("REMOTE_ADDR") or "")
