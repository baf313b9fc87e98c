"""Reads the files of benchmarks as they are published; which format it is, the content says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from keepsake.lab.trials.items import FORMATS_PAGE, Item, UnreadableBenchmark
from keepsake.lab.trials.locomo import SESSION, read_locomo, read_realtalk
from keepsake.lab.trials.longmemeval import read_longmemeval
from keepsake.lab.trials.marked_turns import read_marked_turns
from keepsake.lab.trials.trial import Trial

ENDINGS = (".json", ".jsonl")
_KNOWN = (
    'Known are LoCoMo ("conversation" with "session_1" …, and "qa"), LongMemEval '
    '("haystack_sessions"), REALTALK ("session_1" … and "qa") and {"turns": …, "questions": …}; '
    f"{FORMATS_PAGE}"
)
_FORMATS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[Item, str], Trial]], ...] = (
    (lambda value: "turns" in value, read_marked_turns),
    (lambda value: "haystack_sessions" in value, read_longmemeval),
    (lambda value: isinstance(value.get("conversation"), dict), read_locomo),
    (lambda value: any(map(SESSION.fullmatch, value)), read_realtalk),
)
"""How each format is known, and what reads an item of it under a name from its file."""


def read_trials(path: Path) -> list[Trial]:
    """The lives of a file, or of all files of a folder, with their questions.

    Raises:
        UnreadableBenchmark: It cannot be read; names the file, the item and the cure.
    """
    files = [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in ENDINGS)
        if not files:
            raise UnreadableBenchmark(f"{path} has no .json files", "Name the folder of the data")
    found = [trial for file in files for trial in _trials(file, _loaded(file))]
    if not any(trial.questions for trial in found):
        raise UnreadableBenchmark(f"{path} has no questions", _KNOWN)
    return list(_distinct(found))


def _distinct(found: Iterable[Trial]) -> Iterator[Trial]:
    """Each with a name of its own, by which its figures are told from those of others."""
    times: Counter[str] = Counter()
    for trial in found:
        times[trial.name] += 1
        count = times[trial.name]
        yield trial if count == 1 else replace(trial, name=f"{trial.name} ({count})")


def _loaded(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except OSError as error:
        told = f"{path} cannot be read ({error.strerror or error})"
        raise UnreadableBenchmark(told, "Name a file that is there") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableBenchmark(f"{path} is no JSON ({error})", _KNOWN) from error


def _trials(path: Path, data: Any) -> Iterator[Trial]:
    """A list holds one sample an entry; an object is one alone."""
    if not isinstance(data, list):
        yield _trial(Item(data, path.name), path.stem)
        return
    for number, each in enumerate(data, 1):
        yield _trial(Item(each, f"{path.name}, sample {number}"), f"{path.stem} {number}")


def _trial(item: Item, name: str) -> Trial:
    for is_of_it, read in _FORMATS:
        if isinstance(item.value, dict) and is_of_it(item.value):
            return read(item, name)
    has = ", ".join(map(str, item.value)) if isinstance(item.value, dict) else repr(item.value)
    raise UnreadableBenchmark(
        f"{item.where} is in no format that is known (it has {has:.80})", _KNOWN
    )
