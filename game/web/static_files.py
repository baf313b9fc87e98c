"""The files of the pages: scripts, styles, pictures; what a browser may do with its copies."""

from __future__ import annotations

from typing import Any

from twisted.web.http import Request
from twisted.web.pages import forbidden
from twisted.web.resource import IResource
from twisted.web.static import File


class StaticFiles(File):
    """A folder of files, without a list of them.

    Browsers ask each time whether their copy is still the newest: after an upgrade none runs old
    modules of a page beside new ones.
    """

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - Twisted's name
        """Send the file, or that it has not changed."""
        request.setHeader(b"cache-control", b"no-cache")
        request.setHeader(b"x-content-type-options", b"nosniff")
        return super().render_GET(request)

    render_HEAD = render_GET  # noqa: N815 - Twisted's name

    def directoryListing(self) -> IResource:  # noqa: N802 - Twisted's name
        """Nothing."""
        return forbidden()
