"""Pictures of estimates as SVG: bars with their intervals, differences, curves.

Each picture shows what a table beside it says in numbers, so it has one short text for readers
that cannot see it. Colours are those of ``style.html.j2``, light or dark. All shares are 0 to 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log10

from markupsafe import Markup, escape

from keepsake.lab.intervals import MIN_CLUSTERS, Estimate

WIDTH = 480
"""The width of a picture in its own units: so few that its words can be read on a phone."""
ROW = 34
"""The height of a row: its name, and its bar below."""
HUES = 8
"""The style has so many colours, which then begin again."""
_MIDDLE = 23
"""Where the middle of a row's bar is."""
_EDGE = 12
_PLOT = WIDTH - _EDGE - 46
"""Room for half of the scale's first figure, and the width of the plot: the rest is for figures."""
_SCALE = 22
"""The height of a scale's figures."""
_HIGH = 220
_LEFT = 40
_LINE = 19
_LONGEST_NAME = 60
"""The height of curves, the room for their scale, the height of a line of their legend, the most
characters of a name."""

type Line = Mapping[float, Estimate]
"""The points of a curve, by x."""


def bars(title: str, rows: Mapping[str, Estimate | None]) -> Markup:
    """Return a bar for each row from 0 to 1, with its interval."""
    known = {name: each for name, each in rows.items() if each is not None}
    if not known:
        return Markup("")
    parts = [_scale(len(known) * ROW, 0.0, 1.0, percent=True)]
    for place, (name, each) in enumerate(known.items()):
        y = place * ROW
        wide = each.mean * _PLOT
        parts.append(_name(name, y))
        bar = _tag("rect", x=_EDGE, y=y + _MIDDLE - 6, width=wide, height=12, cls=_hue(0))
        parts.append(bar)
        parts.append(_interval(each, y + _MIDDLE, 0.0, 1.0))
        parts.append(_text(WIDTH, y + _MIDDLE + 5, f"{100 * each.mean:.0f}", "end"))
    listed = "; ".join(f"{name} {100 * each.mean:.0f}" for name, each in known.items())
    return _picture(title, listed, len(known) * ROW + _SCALE, parts)


def differences(
    title: str, rows: Mapping[str, Estimate], sure: Collection[str] = frozenset()
) -> Markup:
    """Return a point with its interval for each difference, around a line at zero.

    ``sure``: The rows for which chance is an unlikely reason; their points are filled.
    """
    if not rows:
        return Markup("")
    most = max(max(abs(each.low), abs(each.high), abs(each.mean)) for each in rows.values())
    most = max(most, 0.01)
    parts = [_scale(len(rows) * ROW, -most, most, percent=True)]
    for place, (name, each) in enumerate(rows.items()):
        y = place * ROW + _MIDDLE
        parts.append(_name(name, place * ROW))
        parts.append(_interval(each, y, -most, most))
        x = _EDGE + (each.mean + most) / (2 * most) * _PLOT
        parts.append(_tag("circle", cx=x, cy=y, r=5, cls=_hue(0) if name in sure else "unsure"))
        parts.append(_text(WIDTH, y + 5, f"{100 * each.mean:+.0f}", "end"))
    listed = "; ".join(f"{name} {100 * each.mean:+.0f}" for name, each in rows.items())
    return _picture(title, listed, len(rows) * ROW + _SCALE, parts)


def curves(title: str, lines: Mapping[str, Line], ticks: Mapping[float, str]) -> Markup:
    """Return a curve for each line, with intervals, over a logarithmic x.

    ``ticks``: The names of the values of x.
    """
    shown = {name: line for name, line in lines.items() if line}
    if not shown or len(ticks) < 2:
        return Markup("")
    least = log10(min(ticks))
    span = log10(max(ticks)) - least
    wide = WIDTH - _LEFT - 76

    def at(x: float, share: float) -> tuple[float, float]:
        return _LEFT + 30 + (log10(x) - least) / span * wide, 10 + (1 - share) * (_HIGH - 40)

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = at(min(ticks), share)
        parts.append(_tag("line", x1=_LEFT, y1=y, x2=WIDTH, y2=y, cls="grid"))
        parts.append(_text(_LEFT - 8, y + 4, f"{100 * share:.0f}", "end"))
    for x, name in ticks.items():
        parts.append(_text(at(x, 0)[0], _HIGH - 8, name, "middle"))
    for place, (name, line) in enumerate(shown.items()):
        hue = _hue(place)
        points = [(*at(x, each.mean), x, each) for x, each in sorted(line.items())]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py, *_ in points)
        parts.append(_tag("polyline", points=path, cls=f"curve {hue}"))
        for px, py, x, each in points:
            if each.clusters >= MIN_CLUSTERS:
                top = at(x, each.high)[1]
                end = at(x, each.low)[1]
                parts.append(_tag("line", x1=px, y1=top, x2=px, y2=end, cls=f"spread {hue}"))
            parts.append(_tag("circle", cx=px, cy=py, r=3.5, cls=hue))
        y = _HIGH + 14 + place * _LINE
        parts.append(_tag("rect", x=_LEFT, y=y - 9, width=12, height=9, cls=hue))
        parts.append(_text(_LEFT + 18, y, _short(name)))
    listed = "; ".join(
        f"{name} " + ", ".join(f"{ticks[x]} {100 * each.mean:.0f}" for x, each in line.items())
        for name, line in shown.items()
    )
    return _picture(title, listed, _HIGH + 8 + _LINE * len(shown), parts)


# -- parts


def _picture(title: str, words: str, height: float, parts: Iterable[Markup]) -> Markup:
    """Return a figure with its caption; ``words``: the same for those who cannot see it."""
    inside = Markup("").join(parts)
    return Markup(
        '<figure><figcaption>{}</figcaption><svg viewBox="0 0 {} {:.0f}" role="img" '
        'aria-label="{}">{}</svg></figure>'
    ).format(title, WIDTH, height, f"{title}: {words}", inside)


def _scale(height: float, low: float, high: float, *, percent: bool) -> Markup:
    """Return grid lines at five values, with the values below them."""
    parts = []
    for step in range(5):
        value = low + step / 4 * (high - low)
        x = _EDGE + step / 4 * _PLOT
        cls = "grid zero" if value == 0 else "grid"
        parts.append(_tag("line", x1=x, y1=0, x2=x, y2=height + 2, cls=cls))
        shown = f"{100 * value:.0f}" if percent else f"{value:g}"
        parts.append(_text(x, height + 16, shown, "middle"))
    return Markup("").join(parts)


def _interval(each: Estimate, y: float, low: float, high: float) -> Markup:
    """Return the line of an interval with its ends; nothing if too few clusters make one."""
    if each.clusters < MIN_CLUSTERS:
        return Markup("")
    ends = [_EDGE + (v - low) / (high - low) * _PLOT for v in (each.low, each.high)]
    path = f"M{ends[0]:.1f} {y - 4}v8m0 -4H{ends[1]:.1f}m0 -4v8"
    return _tag("path", d=path, cls="interval")


def _name(name: str, y: float) -> Markup:
    return _text(_EDGE, y + 13, _short(name))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _text(x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, words
    )


def _tag(name: str, *, cls: str, **attributes: object) -> Markup:
    given = (
        f'{key}="{value:.1f}"' if isinstance(value, float) else f'{key}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f'<{name} class="{cls}" {" ".join(given)}/>')


def _hue(place: int) -> str:
    return f"hue-{place % HUES}"


# -- which pictures a report has


def first_known(measures: Sequence[str], estimates: Iterable[Mapping[str, Estimate]]) -> str:
    """Return the first measure that every one of the estimates has; else the first at all."""
    known = [set(each) for each in estimates]
    return next((m for m in measures if all(m in each for each in known)), measures[0])
