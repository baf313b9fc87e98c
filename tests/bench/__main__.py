"""``python -m tests.bench [name …]``: measure, print one table, write ``bench.json``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console

from tests.bench.figures import Figure, save, show

BENCHES = (
    "busy",
    "index",
    "query",
    "summary",
    "recall",
    "languages",
    "remembered",
    "recalled",
    "usefulness",
    "needs",
    "exchanges",
    "excerpts",
    "spoken",
    "agreeing",
    "peers",
    "first_sentence",
    "first_line",
    "tokens",
    "prompts",
    "evening",
    "open",
    "pages",
    "library",
)
"""The names of the benches: ``busy`` is in ``busy_bench.py``."""


def main(names: list[str]) -> int:
    """Run the benches named, all by default; returns the exit status."""
    console = Console()
    if {"-h", "--help"} & set(names):
        _show_benches(console)
        return 0
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        console.print(f"There is no bench {', '.join(unknown)}. There are: {', '.join(BENCHES)}")
        return 2
    figures: list[Figure] = []
    for name in names or BENCHES:
        with console.status(f"Measuring {name} …"):
            figures += import_module(f"tests.bench.{name}_bench").measure()
        # Save after each bench, to keep the results of an interrupted run.
        save(figures, Path("bench.json"))
    show(figures, console)
    console.print("Written to bench.json")
    return 0


def _show_benches(console: Console) -> None:
    """Print the benches, each with what it measures."""
    told = "python -m tests.bench [name …]: run these benches; all without a name.\n"
    console.print(told, markup=False)
    for name in BENCHES:
        about = import_module(f"tests.bench.{name}_bench").__doc__ or ""
        console.print(f"{name:<16}{about.partition('.')[0]}.", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
