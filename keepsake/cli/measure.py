"""The work of ``keepsake measure``: the page of measures of simulations, and a blind interview.

The page is made from the files of the simulations, so it can be made again at any time.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from keepsake.cli.output import out, plain_table, print_wide
from keepsake.cli.simulate import folder_of
from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.simulations.blind import PAGE, BlindInterview
from keepsake.lab.simulations.measured import UNKNOWN, MeasuredSimulation
from keepsake.lab.simulations.page import MEASURES, write_blind_page, write_page
from keepsake.lab.simulations.ratings import rate, read_rankings
from keepsake.lab.simulations.record import SimulationRecord
from keepsake.paths import Places

FOLDER = "measures"
"""The folder of the page, inside that of the first simulation."""


def measure(
    here: Places, names: Sequence[str], folder: Path | None = None, rankings: Sequence[Path] = ()
) -> None:
    """Write the page of simulations, and with two or more interviews a blind one; print figures.

    Raises:
        KeepsakeError: A simulation does not exist or cannot be read, a form is wrong, or a file
            cannot be written.
    """
    names = list(dict.fromkeys(names))
    folders = [folder_of(here, name) for name in names]
    records = [SimulationRecord.read(each) for each in folders]
    goal = folder or folders[0] / FOLDER
    with refusing(f"{goal} could not be created", "Name another folder with --out"):
        goal.mkdir(parents=True, exist_ok=True)
    asked = [record for record in records if record.answers]
    interview = BlindInterview.of(asked) if len(asked) > 1 else None
    ratings = None
    if interview is not None:
        write_blind_page(interview, goal)
        interview.write_key(goal)
        if rankings:
            ratings = rate(interview, read_rankings(interview, rankings))
    elif rankings:
        cure = "Name all simulations of the interview, in any order"
        raise KeepsakeError("Rankings need two simulations with interviews", cure)
    measured = [MeasuredSimulation.of(record) for record in records]
    options = ["--out", str(folder)] if folder else []
    options += [text for path in rankings for text in ("--rankings", str(path))]
    command = shlex.join(["keepsake", "measure", *names, *options])
    write_page(measured, goal, command, interview, ratings)
    rows = [(each.name, *_texts(measured, each.name)) for each in measured[0].figures]
    print_wide(plain_table(["", *names], rows, right=names))
    for path in (goal / MEASURES, goal / PAGE if interview is not None else None):
        if path is not None:
            out.print(str(path), markup=False)


def _texts(measured: Sequence[MeasuredSimulation], name: str) -> list[str]:
    """Return a figure of each simulation by its name; one may have other items."""
    found = ({each.name: each.text for each in one.figures} for one in measured)
    return [each.get(name, UNKNOWN) for each in found]
