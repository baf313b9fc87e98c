"""A transcript of a terminal as a moving picture: one SVG file without scripts.

Lines appear one after another, and the page scrolls as a terminal does. For readers who want no
motion, and where styles are not run, the last page stands still.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

COLUMNS = 84
ROWS = 22
HIGH = 19
WIDE = 8.2
"""A terminal's size in characters, and a character's size in pixels, for a font of 13.5 px."""
READING = 15.0
"""Characters that somebody reads in a second: so long a line stands before the next comes."""
TYPING = 1.2
"""Seconds before a typed line appears."""
SECONDS = 60.0
"""The length of the whole; all pauses are shortened alike if it would be longer."""


def cast(transcript: Sequence[tuple[str, str]], title: str) -> str:
    """Return the SVG of a transcript: what was typed, each with what was then read."""
    rows = [*_rows(transcript)]
    times = [*_times(rows)]
    scale = min(SECONDS / times[-1], 1.0) if times and times[-1] else 1.0
    times = [scale * each for each in times]
    lines = "\n".join(
        f'<text class="{kind}" y="{(place + 1) * HIGH}" style="animation-delay:{at:.1f}s">'
        f"{escape(text)}</text>"
        for place, ((kind, text), at) in enumerate(zip(rows, times, strict=True))
        if text
    )
    width = round(COLUMNS * WIDE + 24)
    height = ROWS * HIGH + 20
    return _PAGE.format(
        width=width,
        height=height,
        title=escape(title),
        total=max(times, default=0.0) + 1,
        scroll=_scroll(times),
        end=-max(len(rows) - ROWS, 0) * HIGH,
        lines=lines,
    )


def _rows(transcript: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each row."""
    for typed, read in transcript:
        for place, part in enumerate(textwrap.wrap(f"> {typed}", COLUMNS)):
            yield "typed", part if place == 0 else f"  {part}"
        for line in read.strip().splitlines():
            for part in textwrap.wrap(line.rstrip(), COLUMNS) or [""]:
                yield "read", part
        yield "read", ""


def _times(rows: Sequence[tuple[str, str]]) -> Iterator[float]:
    """Yield the second at which each row appears."""
    now = 0.5
    for kind, text in rows:
        now += TYPING if kind == "typed" else 0.0
        yield now
        now += len(text) / READING


def _scroll(times: Sequence[float]) -> str:
    """Return the key frames by which full pages move up, row by row."""
    total = max(times, default=0.0) + 1
    frames = ["0% {transform:translateY(0)}"]
    for place, at in enumerate(times):
        if place >= ROWS:
            up = -(place - ROWS + 1) * HIGH
            frames.append(f"{100 * at / total:.2f}% {{transform:translateY({up}px)}}")
    return "".join(frames)


_PAGE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>
text {{font:13.5px ui-monospace,"DejaVu Sans Mono",Menlo,monospace;fill:#d8d3c8;white-space:pre;\
opacity:0;animation:show .01s forwards}}
.typed {{fill:#e0b357}}
#page {{transform:translateY({end}px);animation:scroll {total:.1f}s step-end 1}}
@keyframes show {{to {{opacity:1}}}}
@keyframes scroll {{{scroll}}}
@media (prefers-reduced-motion:reduce) {{text,#page {{animation:none;opacity:1}}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#191711"/>
<svg x="12" y="6" width="{width}" height="{height}"><g id="page" xml:space="preserve">
{lines}
</g></svg>
</svg>
"""
