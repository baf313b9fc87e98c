"""``keepsake model``: lists models, fetches one, and gives it to the agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from keepsake.books.files import RecordStore
from keepsake.cli.output import out, plain_table
from keepsake.errors import KeepsakeError, ModelMissing
from keepsake.markdown_config import with_settings
from keepsake.models import catalogue, fetching
from keepsake.models.catalogue import Catalogue, CatalogueModel
from keepsake.models.detection import detected_profiles
from keepsake.models.local.embedded import require_gguf
from keepsake.models.local.mpnet import MPNET
from keepsake.models.profiles import (
    AGENT,
    AUTO,
    EMBEDDED,
    EMBEDDER,
    NO_MODEL,
    NOTHING_FOUND,
    ModelProfile,
    load,
)
from keepsake.paths import SHIPPED_CONFIG, Places, places, prepare

app = typer.Typer(no_args_is_help=True, help="Fetch a model, and give it to the agents.")

Name = Annotated[str, typer.Argument(help="A name that `keepsake model list` shows.")]


@app.command("list")
def show() -> None:
    """List the models that can be fetched, and show which are fetched or in use."""
    here = places()
    profiles = detected_profiles(here, _file(here, "llm.md"))
    profile = profiles.get(AGENT)
    headings = ("name", "size", "licence", "memory", "")
    table = plain_table(headings, right=("size",))
    models = _catalogue(here).models.values()
    for model in models:
        row = (model.name, _size(model), model.licence, model.memory)
        table.add_row(*map(escape, (*row, _state(model, here, profile))))
    out.print(table)
    for model in models:
        out.print(f"[dim]{escape(f'{model.name}: {model.about}')}[/dim]")
    out.print(f"The agents' model: {profiles.agent_model_line}", markup=False, soft_wrap=True)


@app.command("get")
def get(name: Name) -> None:
    """Fetch a model; an interrupted download is resumed."""
    here = places()
    model = _catalogue(here).named(name)
    out.print(escape(f"{model.repo}/{model.file}, {_size(model)}, licence: {model.licence}"))
    prepare(here)
    path = fetching.fetch(model, here.models)
    out.print(escape(str(path)))
    if not model.sha256:
        note = "models.md has no sha256 for it: only the hub's own checksum was checked."
        out.print(f"{note}\n  sha256   {fetching.sha256_of(path)}")
    out.print(f"Let the agents use it: keepsake model use {model.name}", markup=False)


@app.command("use")
def use(name: Name) -> None:
    """Let the agents use a fetched model, or the best one found (`auto`); effective at once."""
    here = places()
    prepare(here)
    path = here.config / "llm.md"
    settings = {"provider": AUTO, "model_file": "", "form": ""}
    if name != AUTO:
        model = _catalogue(here).named(name)
        if not model.path(here.models).is_file():
            raise ModelMissing(
                f"{model.name} has not been fetched", f"First: keepsake model get {model.name}"
            )
        settings |= {"provider": EMBEDDED, "model_file": Path(model.file).name}

    file_of_profiles = RecordStore[str](lambda _path, text, _time: text)
    file_of_profiles.change(path, lambda text, _: with_settings(text or "", AGENT, settings))
    load(path)  # raises ConfigError if another profile contradicts it
    out.print(f"The agents now use {name} (section {AGENT} of {escape(str(path))}).")


@app.command("embedder")
def embedder(
    name: Annotated[
        str, typer.Argument(help=f"{MPNET}, for English; or `auto`, which is the default.")
    ],
) -> None:
    """Let recall use a larger embedding model, which is fetched; effective after a reload."""
    here = places()
    prepare(here)
    if name not in (AUTO, MPNET):
        raise ModelMissing(f"There is no embedder {name!r} to fetch", f"Use {MPNET} or {AUTO}")
    settings = {"provider": AUTO, "model": ""}
    if name == MPNET:
        from keepsake.models.local import mpnet_weights  # noqa: PLC0415 - slow to import

        weights = mpnet_weights.PUBLISHED
        said = f"{weights.repo}/{weights.file}, {_size(weights)}, {weights.licence}"
        out.print(escape(said))
        out.print(escape(str(mpnet_weights.fetch_mpnet(here.models))))
        settings = {"provider": EMBEDDED, "model": MPNET}
    path = here.config / "llm.md"
    file_of_profiles = RecordStore[str](lambda _path, text, _time: text)
    file_of_profiles.change(path, lambda text, _: with_settings(text or "", EMBEDDER, settings))
    out.print(f"Recall uses {name} (section {EMBEDDER} of {escape(str(path))}).")
    out.print("Now: keepsake reload. The vectors are made again in the background.")


def _catalogue(here: Places) -> Catalogue:
    return catalogue.load_catalogue(_file(here, "models.md"))


def _file(here: Places, name: str) -> Path:
    """Return the vault's configuration file; before the first start, the shipped one."""
    path = here.config / name
    return path if path.exists() else SHIPPED_CONFIG / name


def _state(model: CatalogueModel, here: Places, profile: ModelProfile) -> str:
    if profile.provider == EMBEDDED and profile.model_file == Path(model.file).name:
        return "in use"
    return "fetched" if model.path(here.models).is_file() else ""


def _size(model: CatalogueModel) -> str:
    return f"{model.size / 1e6:,.0f} MB"


def before_start(here: Places, model: str) -> str:
    """Print which model the agents have, and what is wrong with it.

    Args:
        model: The command line's value: a name of ``models.md``, ``none``, or empty.

    Returns:
        The line to print when a better model is fetched; empty if none should be.
    """
    profiles = detected_profiles(here, _file(here, "llm.md"))
    out.print(f"The agents' model: {profiles.agent_model_line}", markup=False, soft_wrap=True)
    if problem := profiles.problem or _missing_file(here, profiles.get(AGENT)):
        out.print(f"It cannot be used as it is set: {problem}", markup=False, soft_wrap=True)
    if model == NO_MODEL or not profiles.detects or profiles.found != NOTHING_FOUND:
        return ""
    found = fetching.models_to_fetch(_file(here, "models.md"), model)
    return _announcement(found) if found else ""


def _missing_file(here: Places, profile: ModelProfile) -> KeepsakeError | None:
    """Return what is wrong with the file of an embedded model; None if nothing is."""
    if profile.provider == EMBEDDED:
        try:
            require_gguf(here.models / profile.model_file)
        except ModelMissing as error:
            return error
    return None


def _announcement(found: Mapping[str, CatalogueModel]) -> str:
    """Return which model is fetched, and which one if its source cannot be reached."""
    first, *others = (
        f"{model.name} ({_size(model)}, {model.licence}) from the {source}"
        for source, model in found.items()
    )
    fetched = ", or if that fails ".join([first, *others])
    return (
        f"A model is fetched in the background: {fetched}. The agents switch to it when it is "
        "complete; `make status` names it. `make run MODEL=none` fetches nothing."
    )
