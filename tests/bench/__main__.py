"""``python -m tests.bench [name …]``: measure, print one table, write ``bench.json``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from tests.bench import (
    busy_bench,
    first_sentence_bench,
    index_bench,
    languages_bench,
    peers_bench,
    recall_bench,
    remembered_bench,
    spoken_bench,
    summary_bench,
    tokens_bench,
)
from tests.bench.figures import Figure, save, show

BENCHES: dict[str, Callable[[], Iterator[Figure]]] = {
    "busy": busy_bench.measure,
    "index": index_bench.measure,
    "summary": summary_bench.measure,
    "recall": recall_bench.measure,
    "languages": languages_bench.measure,
    "remembered": remembered_bench.measure,
    "spoken": spoken_bench.measure,
    "peers": peers_bench.measure,
    "first_sentence": first_sentence_bench.measure,
    "tokens": tokens_bench.measure,
}


def main(names: list[str]) -> int:
    """Run the benches named, all by default; returns the exit status."""
    console = Console()
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        console.print(f"There is no bench {', '.join(unknown)}. There are: {', '.join(BENCHES)}")
        return 2
    figures: list[Figure] = []
    for name in names or BENCHES:
        with console.status(f"Measuring {name} …"):
            figures += BENCHES[name]()
        # Save after each bench, to keep the results of an interrupted run.
        save(figures, Path("bench.json"))
    show(figures, console)
    console.print("Written to bench.json")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
