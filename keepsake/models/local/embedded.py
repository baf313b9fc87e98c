"""The embedded model: llama.cpp in a child process, serving a GGUF file.

    python -m keepsake.models.local.embedded --port 4007 --model FILE --pid-file=FILE …

runs the child process. Its warm caches survive a reload of the game.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from keepsake import child
from keepsake.errors import ModelError, ModelMissing, ModelUnavailable
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.MODELS)

CONTEXT = 8192
"""The default context window of one prompt with its answer, in tokens."""
SLOTS = 6
"""The number of prompts that stay ready in slots."""
CACHE_MIB = 1024
"""The memory in MiB for prompts that lost their slot."""
POOL = 24576
"""The most tokens of context that all slots share."""
BATCH = 128
"""The most prompt tokens that are computed in one step, which nothing interrupts. With 2,048, the
default, a player waits until another agent's whole prompt is read: five to twenty seconds."""
VOICES = Path(__file__).parents[1] / "voices"
"""LoRA adapters that tune a model to talk, each named like its model file; see ``tools/voice``."""
LARGE_BYTES = 1 << 30
"""File size above which the slots share less context, because a large model needs more memory."""
MAGIC = b"GGUF"
INSTALL = (
    'pip install "evennia-keepsake[embedded]", or start an Ollama (in a checkout: make install)'
)


class Embedded(child.Supervisor):
    """The supervisor of the process that serves the embedded model of one home.

    Attributes:
        refused: Why the last requested file is not served; None if it is.
    """

    stem = "model"
    name = "embedded model"
    logger = log
    module = "keepsake.models.local.embedded"
    health = "/health"
    off_cure = "Name it as a provider in llm.md and start the game"
    unavailable = ModelUnavailable
    environ: ClassVar[Mapping[str, str]] = {"OMP_WAIT_POLICY": "PASSIVE"}
    """Its threads wait for each other hundreds of times a token. By default they spin meanwhile.
    If another program runs, they then take the processor from the thread that they wait for. Two
    threads on two busy cores (load 10 to 13, 1.5 billion parameters) wrote 0.7 tokens a second and
    read 4; asleep while they wait, they write 6 and read 9."""

    refused: ModelError | None = None
    _model: tuple[Path, int, int] | None = None  # file, tokens of one prompt, tokens of all slots

    def use(self, file: str, context: int | None = None) -> None:
        """Serve this model from the next check on; if it cannot be read, keep the previous one.

        Args:
            file: The GGUF file, absolute or in the home's ``models``.
            context: Tokens of one prompt with its answer; None for the default.
        """
        path = self._places.models / file
        size = context or CONTEXT
        try:
            weight = require_gguf(path)
        except ModelError as error:
            if str(error) != str(self.refused):
                log.error(str(error), exc_info=error)
            self.refused = error
            return
        self.refused = None
        model = path, size, max(size, POOL * LARGE_BYTES // max(weight, LARGE_BYTES))
        if self._model not in (None, model):
            self.ready.clear()  # the child is replaced at the next check
        self._model = model

    def _arguments(self) -> list[object]:
        """Return the command-line arguments of the child."""
        require_embedded()
        if self._model is None:
            raise self.refused or ModelMissing("No GGUF file is named", "Set model_file in llm.md")
        path, size, pool = self._model
        return ["--model", path, "--context", size, "--pool", pool]


def require_embedded() -> None:
    """Check that the extra ``embedded`` is installed; raise ModelMissing if it is not."""
    if not find_spec("xllamacpp"):
        raise ModelMissing("llama.cpp is not installed", INSTALL)


def require_gguf(path: Path) -> int:
    """Check that a file is a GGUF file, and return its size in bytes.

    Raises:
        ModelMissing: The file does not exist, cannot be read, or is not a GGUF file.
    """
    try:
        with path.open("rb") as file:
            is_model = file.read(len(MAGIC)) == MAGIC
        size = path.stat().st_size
    except OSError as error:
        raise ModelMissing(
            f"The model's file {path} cannot be read ({error.strerror or error})",
            "Correct model_file in llm.md, or fetch one: keepsake model list",
        ) from error
    if not is_model:
        raise ModelMissing(
            f"{path} is not a GGUF file",
            "Fetch it again with keepsake model get, or correct model_file in llm.md",
        )
    return size


_server: Any = None
"""A reference that keeps the server alive: llama.cpp stops when the object is deleted."""


def main() -> int:
    """Serve until a signal or the end of the game stops the process; return the exit status."""
    parser = child.parser("keepsake.models.local.embedded")
    parser.add_argument("--model", type=Path, required=True, help="the weights' file")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens for one agent")
    parser.add_argument("--pool", type=int, default=POOL, help="tokens that all slots share")
    given = parser.parse_args()
    # Players wait for it, so it has the priority of the game. What nobody waits for gives way in
    # the queue of the game's calls.
    return child.serve(given, lambda: _start(given), niceness=0)


def _start(settings: argparse.Namespace) -> str:
    """Load the model and start llama.cpp's own HTTP server in threads of this process."""
    # After the lock is taken, because it takes a second. It has no stubs.
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415 - slow to import

    global _server  # noqa: PLW0603 - one server a process
    try:
        given = _parameters(settings, xllamacpp.CommonParams(), xllamacpp.CommonAdapterLoraInfo)
        _server = xllamacpp.Server(given)
    except Exception as error:  # the binding raises bare C++ errors of several types
        raise SystemExit(f"llama.cpp could not load the model: {error}") from error
    return f"listening on {_server.listening_address}"


def _parameters(settings: argparse.Namespace, params: Any, lora: Any) -> Any:
    """Configure llama.cpp so that agents who take turns keep their cached prompts."""
    # Gemma attends to 512 tokens in most layers: without swa_full a cached prefix would be lost.
    # One shared pool takes a third of the memory of separate slots. A prompt that loses its slot
    # moves to cache_ram_mib. A small model with two generation threads is 10x slower on a busy CPU.
    params.model.path = str(settings.model)
    params.model_alias = {settings.model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = settings.port
    params.n_parallel = SLOTS
    params.n_ctx = settings.pool
    params.kv_unified = True
    params.kv_unified_per_slot = settings.context
    params.swa_full = True  # no effect on models without a sliding window
    params.cache_ram_mib = CACHE_MIB
    cores = os.cpu_count() or 1
    large = settings.model.stat().st_size >= LARGE_BYTES  # computing takes longer than syncing
    params.cpuparams.n_threads = max(1, min(4, cores if large else cores // 2))
    params.cpuparams_batch.n_threads = max(1, min(4, cores))
    params.cpuparams.poll = 0
    params.cpuparams_batch.poll = 0
    params.n_batch = BATCH
    params.n_ubatch = BATCH
    params.n_threads_http = SLOTS + 4
    # Pages in the user's browser must not reach the server, and nothing reads the slots endpoint.
    params.cors_origins = "http://127.0.0.1"
    params.cors_credentials = False
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = 2
    voice = VOICES / settings.model.name
    if voice.exists():
        adapter = lora()
        adapter.path = str(voice)
        adapter.scale = 1.0
        params.lora_adapters = [adapter]
    return params


if __name__ == "__main__":
    sys.exit(main())
