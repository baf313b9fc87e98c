"""The files of the pages: scripts, styles, pictures; what a browser may do with its copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.web.http import Request
from twisted.web.pages import forbidden
from twisted.web.resource import IResource
from twisted.web.static import File

from game.web.site.asset_urls import FOLDER, stamp


class StaticFiles(File):
    """A folder of files, told to nobody as a list.

    Browsers ask each time whether a copy is still the newest: after an upgrade none runs old
    modules of a page beside new ones. What is asked for by an address of
    :mod:`.asset_urls` they keep.
    """

    caching = b"no-cache"

    def getChild(self, path: bytes, request: Request) -> Any:  # noqa: N802 - Twisted's name
        """What is in the folder; our own files by the addresses of any version."""
        name, _, version = path.partition(b"-")
        if name != FOLDER.encode() or not version:
            return super().getChild(path, request)
        folder = Path(self.path) / FOLDER
        newest = version == stamp(folder).encode()
        return (Unchanging if newest else StaticFiles)(str(folder))

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - Twisted's name
        """Send the file, or that it has not changed."""
        request.setHeader(b"cache-control", self.caching)
        request.setHeader(b"x-content-type-options", b"nosniff")
        return super().render_GET(request)

    render_HEAD = render_GET  # noqa: N815 - Twisted's name

    def directoryListing(self) -> IResource:  # noqa: N802 - Twisted's name
        """Nothing."""
        return forbidden()


class Unchanging(StaticFiles):
    """Files whose address is another one as soon as they are: kept for a year, never asked for."""

    caching = b"public, max-age=31536000, immutable"
