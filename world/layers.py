"""The folders with the world's files: the shipped one, and an own world that is laid over it.

An own world has files of the same names and forms. What it adds is new; what has the name of
something shipped takes its place. So an update of Keepsake never touches it, and it needs no copy
of what it does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from keepsake import regular_files
from keepsake.errors import ConfigError
from keepsake.paths import places
from world.source import Checked, DataFile

SHIPPED = Path(__file__).resolve().parent
"""The world of the village, which comes with Keepsake."""
SCREEN = "connection_screen.txt"
"""The text before the login."""
TABLES = ("map.yaml", "things.yaml", "scenes.yaml", "socials.yaml")
PAGES = {"agents": "*.md", "deeds": "*.yaml", "help": "*.md"}
"""The folders whose files are one entry each, named like the file."""
_READ_ME = "readme"

type Layers = Sequence[Path]
"""Folders of the world's files; what a later one has goes over what an earlier one has."""


def layers() -> Layers:
    """Return the shipped world, and the own world if there is one."""
    own = places().own_world
    return (SHIPPED, own) if own.is_dir() else (SHIPPED,)


def checked_layers() -> Layers:
    """Return the same, after a look at the own world.

    Raises:
        ConfigError: It is named but missing, or has a file that nothing reads.
    """
    here = places()
    if here.own_world_given and not here.own_world_given.is_dir():
        reason = "KEEPSAKE_WORLD names it, and there is no such folder"
        cure = "Make it, mount its disk, or unset KEEPSAKE_WORLD"
        raise ConfigError(here.own_world_given, 0, reason, cure)
    found = layers()
    for own in found[1:]:
        for path in _visible(own):
            _check_name(path, own)
    return found


def _visible(folder: Path) -> Iterator[Path]:
    """Yield what a folder holds, sorted, without hidden files: drafts of editors, a repository."""
    yield from sorted(each for each in folder.iterdir() if not each.name.startswith("."))


def _check_name(path: Path, own: Path) -> None:
    """Check that something reads a file or folder of an own world.

    Raises:
        ConfigError: Nothing does: its name is misspelt, or it is in the wrong place. Or it is a
            link that leads to nothing, or a login screen with other characters than ASCII.
    """
    if not path.exists():
        cure = "Put the file back, or remove the link"
        raise ConfigError(path, 0, f"the link leads to {path.readlink()}, which is missing", cure)
    if path.name == SCREEN and not regular_files.read_text(path).isascii():
        cure = "Old clients show nothing else before the login"
        raise ConfigError(path, 0, "it has characters that are not ASCII", cure)
    if path.is_dir() and path.name in PAGES:
        ending = PAGES[path.name].removeprefix("*")
        for page in _visible(path):
            if page.suffix != ending:
                cure = f"Files in {path.name} end in {ending}; put other files elsewhere"
                raise ConfigError(page, 0, "nothing reads this file", cure)
    elif path.name not in (*TABLES, SCREEN) and path.stem.casefold() != _READ_ME:
        known = ", ".join((*TABLES, SCREEN, *(f"{each}/" for each in PAGES)))
        raise ConfigError(path, 0, f"nothing in {own.name} reads this", f"Known are: {known}")


# -- files that are one entry each


def pages_in(folder: str, found: Layers) -> list[Path]:
    """Return the files of one of :data:`PAGES`, by name: the last of each name."""
    by_name = {
        path.name: path
        for layer in found
        for path in (layer / folder).glob(PAGES[folder])
        if not path.name.startswith(".")
    }
    return [by_name[name] for name in sorted(by_name)]


def file_in(name: str, found: Layers) -> Path:
    """Return the file of that name: the last one; that of the first layer if none has it."""
    there = [layer / name for layer in found if (layer / name).exists()]
    return there[-1] if there else found[0] / name


# -- files with many entries


def table_in(
    name: str,
    found: Layers,
    *,
    tables: Collection[str] = (),
    replaces: Callable[[Any], Collection[Hashable]] = lambda _: (),
) -> LaidOver:
    """Read one of :data:`TABLES` in all layers that have it.

    Args:
        tables: The fields that are tables of entries, and are merged entry by entry. The entries
            of other fields are replaced whole, except that lists are put together.
        replaces: The names of an entry of a list. Entries of earlier layers that share one with an
            entry of a later layer are left out.

    Raises:
        ConfigError: No layer has the file, or one cannot be read.
    """
    there = [layer / name for layer in found if (layer / name).exists()]
    files = [DataFile(path) for path in there or [found[0] / name]]
    return LaidOver(files, tables, replaces)


class LaidOver(Checked):
    """Files of one form, each laid over the one before; errors point into the file at fault."""

    def __init__(
        self,
        files: Sequence[DataFile],
        tables: Collection[str],
        replaces: Callable[[Any], Collection[Hashable]],
    ) -> None:
        self._files = files
        self._replaces = replaces
        self.data = {}
        # Where each part of the data stands: its keys here, then the file and the keys there.
        self._origins: dict[tuple[Any, ...], tuple[DataFile, tuple[Any, ...]]] = {}
        for file in files:
            taken = self._names_in(file)
            for name in [key for key in self.data if isinstance(self.data[key], list)]:
                self._drop(name, taken)
            for name, value in file.data.items():
                self._lay(file, name, value, merges=name in tables)

    def _names_in(self, file: DataFile) -> set[Hashable]:
        """Return the names of all entries of the lists in a file."""
        lists = [each for each in file.data.values() if isinstance(each, list)]
        return {name for entries in lists for each in entries for name in self._replaces(each)}

    def _drop(self, name: str, taken: set[Hashable]) -> None:
        """Take entries out of a list that a later layer replaces."""
        entries = self.data[name]
        kept = [n for n, each in enumerate(entries) if taken.isdisjoint(self._replaces(each))]
        origins = [self._origins.pop((name, n)) for n in range(len(entries))]
        self.data[name] = [entries[n] for n in kept]
        self._origins |= {(name, n): origins[old] for n, old in enumerate(kept)}

    def _lay(self, file: DataFile, name: str, value: Any, *, merges: bool) -> None:
        before = self.data.get(name)
        for kind, called in ((dict, "a table"), (list, "a list")):
            if isinstance(before, kind) and not isinstance(value, kind):
                raise file.error((name,), f"{name}: it must be {called}")
        if merges and isinstance(before, dict):
            self.data[name] = {**before, **value}
            self._origins |= {(name, key): (file, (name, key)) for key in value}
        elif isinstance(value, list):
            first = len(before or ())
            self.data[name] = [*(before or ()), *value]
            self._origins |= {(name, first + n): (file, (name, n)) for n in range(len(value))}
            self._origins[name,] = (file, (name,))
        else:
            self.data[name] = value
            self._origins = {at: of for at, of in self._origins.items() if at[0] != name}
            self._origins[name,] = (file, (name,))

    def error(self, at: Sequence[Any], reason: str, cure: str = "") -> ConfigError:
        """Return an error that points to the line of the value at these keys, in its file."""
        at = tuple(at)
        for length in range(len(at), 0, -1):
            if (origin := self._origins.get(at[:length])) is not None:
                file, there = origin
                return file.error((*there, *at[length:]), reason, cure)
        return self._files[-1].error(at, reason, cure)
