"""The models that can be fetched, and families of models, read from ``vault/config/models.md``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from string import hexdigits

from keepsake.errors import ConfigError, ModelMissing
from keepsake.markdown_config import ConfigSection, between, parse
from keepsake.models.profiles import FORMS, SHIPPED_FILE

SHIPPED = "shipped"
"""The name of the model that comes with Keepsake."""

FORMS_SECTION = "forms"
"""The heading under which families of models are named that another form suits than they say."""
UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One model of the catalogue."""

    name: str = ""  # what it is called here
    about: str = ""  # one sentence
    repo: str = ""  # ``owner/name`` on the hub; empty for the shipped one
    file: str = ""  # the GGUF file there
    revision: str = ""  # the commit of the repository, 40 hexadecimal digits; empty for the newest
    sha256: str = ""  # of the file, 64 hexadecimal digits; empty where nobody has verified it
    size: int = between(0, low=1, high=2**50)  # in bytes
    licence: str = ""  # its name
    memory: str = "unknown"  # what it takes when it runs, for people
    talk: str = UNMEASURED  # the measured share of right answers, for people

    def path(self, models: Path) -> Path:
        """Where its file lies once it is fetched."""
        return models / Path(self.file).name

    def is_there(self, models: Path) -> bool:
        """Whether it can be used: whole files alone bear their names."""
        return self.name == SHIPPED or self.path(models).is_file()


def load_catalogue(path: Path) -> Mapping[str, CatalogueModel]:
    """The models of a file by name, in its order.

    Raises:
        ConfigError: The file cannot be read, or a value in it cannot be used.
    """
    found: dict[str, CatalogueModel] = {}
    for section in parse(path):
        if section.name.lower() == FORMS_SECTION:
            continue
        model = _model(section)
        if model.name in found:
            raise ConfigError(path, section.line, f"there are two models {model.name!r}")
        found[model.name] = model
    if SHIPPED not in found:
        raise ConfigError(path, 0, f"the model {SHIPPED!r} is missing", f"Add '## {SHIPPED}'")
    return found


def named(catalogue: Mapping[str, CatalogueModel], name: str) -> CatalogueModel:
    """The model of that name.

    Raises:
        ModelMissing: There is none; names those that there are.
    """
    if name.lower() not in catalogue:
        known = ", ".join(catalogue)
        raise ModelMissing(f"There is no model {name!r} in models.md", f"Use one of {known}")
    return catalogue[name.lower()]


def _model(section: ConfigSection) -> CatalogueModel:
    for key in ("size", "licence"):
        section.text(key)  # refuses a section without it
    found = replace(section.into(CatalogueModel), name=section.name.lower())
    if found.name == SHIPPED:
        return replace(found, repo="", file=SHIPPED_FILE)
    if len(found.repo.split("/")) != 2 or not all(found.repo.split("/")):
        raise section.refuse("repo", f"{found.repo!r} is no owner/name")
    file = PurePosixPath(found.file)
    if file.suffix != ".gguf" or file.is_absolute() or ".." in file.parts:
        raise section.refuse("file", f"{found.file!r} is no GGUF file")
    for key, digits in (("revision", 40), ("sha256", 64)):
        written = getattr(found, key)
        if written and (len(written) != digits or set(written) - set(hexdigits)):
            raise section.refuse(key, f"{written!r} is not the full number in hexadecimal digits")
    return found


def load_forms(path: Path) -> Mapping[str, str]:
    """The forms of families: patterns of names, as ``qwen2.5-coder*0.5b*``, and their form.

    Raises:
        ConfigError: The file cannot be read, or names no form.
    """
    found: dict[str, str] = {}
    for section in parse(path):
        if section.name.lower() == FORMS_SECTION:
            for form, written in section.only(FORMS[1:]).entries.items():
                names = written.value.replace(",", " ").split()
                found |= {each.strip("`").lower(): form for each in names}
    return found


def form_of(forms: Mapping[str, str], name: str) -> str:
    """The form that suits a model; empty for what its server says.

    Args:
        forms: Patterns and their forms.
        name: A model's name at its server, or its file.
    """
    last = name.lower().replace("\\", "/").rpartition("/")[2]
    return next((form for pattern, form in forms.items() if fnmatch(last, pattern)), "")
