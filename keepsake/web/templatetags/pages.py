"""The script of a page, and every module that it needs.

A browser learns of a module only from the one that imports it. Imports go four deep, and each step
would cost the time of a request, so the page names all of them at once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django.template import Library
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

MODULES = Path(__file__).parents[1] / "static" / "keepsake" / "watch"
_IMPORT = re.compile(r'\bfrom "\./(\w+)\.js";')

register = Library()


# Django ships no types for its template library.
@register.simple_tag  # type: ignore[untyped-decorator]
def page_script(name: str) -> SafeString:
    """Return the elements that load a page's script: ``{% page_script "person" %}``."""
    links = format_html_join(
        "", '<link rel="modulepreload" href="{}">\n    ', ([_url(each)] for each in needed_by(name))
    )
    return format_html('{}<script type="module" src="{}"></script>', links, _url(name))


@cache
def needed_by(name: str) -> tuple[str, ...]:
    """Return the names of all modules that a module needs, by name."""
    found = {name}
    new = [name]
    while new:
        text = (MODULES / f"{new.pop()}.js").read_text(encoding="utf-8")
        imported = set(_IMPORT.findall(text)) - found
        found |= imported
        new += imported
    return tuple(sorted(found - {name}))


def _url(name: str) -> str:
    return static(f"keepsake/watch/{name}.js")
