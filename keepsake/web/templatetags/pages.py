"""The script of a page, every module that it needs, and the answer that it will ask for.

A browser learns of a module only from the one that imports it. Imports go four deep, and each step
would cost the time of a request, so the page names all of them at once. What the script will ask
the API, the browser asks while it reads the modules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote_plus

from django.template import Context, Library
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from keepsake.web.questions.clock import by_the_clock

MODULES = Path(__file__).parents[1] / "static" / "keepsake" / "watch"
WHOLE = 200
WHOLE_WIDE = 240
"""The most characters of a text that is shown whole everywhere, and where there is room: five lines
of a phone, two of a desk. As ``short_answer.js`` has it."""
_IMPORT = re.compile(r'\bfrom "\./(\w+)\.js";')

register = Library()


@register.simple_tag  # type: ignore[untyped-decorator]  # Django ships no types
def page_script(name: str) -> SafeString:
    """Return the elements that load a page's script: ``{% page_script "person" %}``."""
    links = format_html_join(
        "", '<link rel="modulepreload" href="{}">\n    ', ([_url(each)] for each in needed_by(name))
    )
    return format_html('{}<script type="module" src="{}"></script>', links, _url(name))


@register.simple_tag(takes_context=True)  # type: ignore[untyped-decorator]  # Django ships no types
def preloaded(context: Context, path: str, *names: str) -> SafeString:
    """Return the element that asks the API ahead of the script, if anything is asked for.

    ``{% preloaded "person" "key" "id=agent" %}`` asks ``person`` for what the page's address says
    as ``key`` and ``agent``, as ``key`` and ``id``. The address must be the script's to a letter:
    see ``get`` in ``api.js``.
    """
    query = query_of(dict(context["request"].GET.lists()), names)
    if not query:
        return SafeString()
    link = '<link rel="preload" as="fetch" crossorigin href="/agents/api/{}?{}">'
    return format_html(link, path, query)


@register.filter  # type: ignore[untyped-decorator]  # Django ships no types
def single_quotes(words: str) -> str:
    """Return words that stand in quotation marks: those within are single."""
    return words.replace('"', "'")


register.filter(by_the_clock)


@register.filter  # type: ignore[untyped-decorator]  # Django ships no types
def or_part(whole: str, part: str) -> SafeString:
    """Return a text, or where there is no room for it the part that stands for it.

    ``{{ text|or_part:part }}``; without a part, or if it is all, the text is shown.
    """
    if not part or part == whole or len(whole) <= WHOLE:
        return format_html("<bdi>{}</bdi>", whole)
    if len(whole) > WHOLE_WIDE:
        return format_html('<bdi title="{}">{}</bdi>', whole, part)
    both = '<bdi class="in-brief" title="{}">{}</bdi><bdi class="in-full">{}</bdi>'
    return format_html(both, whole, part, whole)


def query_of(given: Mapping[str, Sequence[str]], names: Sequence[str]) -> str:
    """Return what :func:`preloaded` asks; empty if nothing is given.

    ``given``: What the page's address says.
    """
    asked = []
    for each in names:
        name, _, as_given = each.partition("=")
        if found := given.get(as_given or name):
            asked.append((name, found[0]))
    if not any(value for _, value in asked):
        return ""
    return "&".join(f"{name}={_quoted(value)}" for name, value in asked)


def _quoted(value: str) -> str:
    """Return a value as ``URLSearchParams`` of a browser writes it."""
    return quote_plus(value, safe="*").replace("~", "%7E")


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
