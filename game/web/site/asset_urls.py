"""Addresses of the pages' own files, which change with what is in them.

A browser keeps what stands at such an address for good and never asks for it again: a page with
fifteen modules would otherwise wait for as many answers that nothing has changed. After an upgrade
the address is another one.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django import template
from django.conf import settings

FOLDER = "keepsake"
"""The folder of the files, among those of the whole site."""
_SOURCE = Path(__file__).parents[1] / "static" / FOLDER
_SIGNS = 12
register = template.Library()


@cache
def stamp(folder: Path) -> str:
    """A few signs that are others where any file in a folder, or its name, is another; blocks."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:_SIGNS]


def asset_url(path: str) -> str:
    """The address of one of the files."""
    collected = Path(settings.STATIC_ROOT) / FOLDER
    folder = collected if collected.is_dir() else _SOURCE  # before the first start it is not there
    return f"{settings.STATIC_URL}{FOLDER}-{stamp(folder)}/{path}"


register.simple_tag(asset_url)
