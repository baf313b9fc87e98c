"""Writes the page of measures and the page of the blind interview, each one HTML file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from keepsake.errors import refusing
from keepsake.files import replace_file
from keepsake.lab.simulations.blind import PAGE, BlindInterview
from keepsake.lab.simulations.measured import UNKNOWN, MeasuredSimulation
from keepsake.lab.simulations.ratings import Ratings

MEASURES = "measures.html"
DATA = "measures.json"
"""The page of measures, and the same as data."""
_TEMPLATES = Path(__file__).parents[1]
"""The folder of the lab, whose pages have one style."""


def _environment() -> Environment:
    pages = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    pages.filters["known"] = _known
    pages.filters["moment"] = _moment
    return pages


def _known(value: float | None, form: str = "{:,}") -> str:
    """Format a number; *unknown* for None."""
    return UNKNOWN if value is None else form.format(value)


def _moment(time: datetime | None) -> str:
    """Format a time: ``Tuesday 17:00``; *at the end* for an answer of the interview."""
    return "at the end" if time is None else f"{time:%A %H:%M}"


def write_page(
    measured: Sequence[MeasuredSimulation],
    folder: Path,
    command: str,
    interview: BlindInterview | None,
    ratings: Ratings | None,
) -> None:
    """Write the page of measures, and the same as data.

    Args:
        measured: The simulations to compare, in the order of the columns.
        command: The command line that makes the page again.
        interview: The blind interview of the simulations; None if there is none.
        ratings: What readers say of it; None if nobody has ranked it.

    Raises:
        KeepsakeError: A file cannot be written.
    """
    template = _environment().get_template("simulations/page.html.j2")
    text = template.render(
        measured=measured,
        command=command,
        commands=list(dict.fromkeys(filter(None, (one.record.plan.command for one in measured)))),
        interview=interview,
        ratings=ratings,
        blind_page=PAGE,
    )
    data = json.dumps([each.as_json() for each in measured], indent=1, ensure_ascii=False)
    with refusing(f"The page could not be written to {folder}", "Free some disk space"):
        replace_file(folder / MEASURES, text)
        replace_file(folder / DATA, data + "\n")


def write_blind_page(interview: BlindInterview, folder: Path) -> None:
    """Write the page for readers, which does not say which letter is which simulation.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    template = _environment().get_template("simulations/blind.html.j2")
    agents = list(interview.letters)
    sheets = {a: [each for each in interview.sheets if each.agent == a] for a in agents}
    text = template.render(interview=interview, sheets=sheets)
    with refusing(f"The interview could not be written to {folder}", "Free some disk space"):
        replace_file(folder / PAGE, text)
