"""The child process of the embedded model, and its supervisor."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from keepsake.child.supervisor import Supervisor
from keepsake.errors import ModelError, ModelUnavailable
from keepsake.models.clients.capabilities import (
    Capabilities,
    is_chat_template,
    of_kind,
    takes_tools,
    thinks_aloud,
)
from keepsake.models.embedded import gguf, weights
from keepsake.models.embedded.gguf import ModelInfo
from keepsake.models.embedded.server import CONTEXT, POOL
from keepsake.models.profiles import CHAT, DIALOGUE, EMBEDDED, LLAMA_CPP, ModelProfile

log = logging.getLogger("keepsake.llm")

_READING = threading.Lock()

CACHE_BYTES = 1 << 30
"""The most memory for the contexts of all slots, unless one prompt alone needs more."""

SHIPPED = ModelInfo("gemma-3-270m", "gemma3", "", 32768, 18432, window=True)
"""What the shipped weights' file says of itself."""


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """What the child serves."""

    path: Path | None  # the GGUF file; None for the shipped weights
    info: ModelInfo  # what it says of itself
    context: int  # tokens of one prompt with its answer

    @property
    def pool(self) -> int:
        """Tokens of context that all slots share: as many as :data:`CACHE_BYTES` has room for."""
        return max(self.context, min(POOL, CACHE_BYTES // max(1, self.info.cache_bytes)))


class Embedded(Supervisor):
    """Looks after the process that serves the embedded model of one home.

    Attributes:
        refused: Why the file that was asked for last is not served; None when it is.
    """

    stem, name, tag, logger = "model", "embedded model", "Model", log
    module, health = "keepsake.models.embedded.server", "/health"
    off_cure = "Name it as a provider in llm.md and start the game"
    unavailable = ModelUnavailable

    refused: ModelError | None = None
    _model: EmbeddedModel | None = None
    _asked: object = None

    @property
    def capabilities(self) -> Capabilities:
        """What the model that is served takes; quick."""
        if (model := self._model) is None:
            return replace(of_kind(LLAMA_CPP), form=DIALOGUE)
        template = model.info.chat_template
        chat = is_chat_template(template)
        return replace(
            of_kind(LLAMA_CPP),
            known=True,
            form=CHAT if chat else DIALOGUE,
            context=model.context,
            tools=chat and takes_tools(template, {}),
            thinks=thinks_aloud(template),
        )

    def use(self, file: str = "", context: int | None = None) -> None:
        """Serve this model from the next look on; where it cannot be, the one before stays.

        Args:
            file: The GGUF file, absolute or in the home's ``models``; empty for the shipped one.
            context: Tokens of one prompt with its answer; None for the default.
        """
        path = self._places.models / file if file else None
        with _READING:  # or another thread would take the shipped one for what is being read
            if (asked := (path, context, _changed(path))) == self._asked:
                return
            self._asked = asked
            try:
                info = gguf.read(path) if path else SHIPPED
            except ModelError as error:
                self.refused = error
                log.error("[Model] %s", error)
                return
            self.refused = None
            wanted = context or CONTEXT
            self._model = EmbeddedModel(path, info, min(wanted, info.context or wanted))

    def _arguments(self) -> list[object]:
        """The weights, put together if they are not yet, and how to serve them."""
        if self._model is None:
            if self.refused is not None:
                raise self.refused
            self.use()
        model = self._model
        if model is None:
            raise AssertionError("the shipped model is always known")
        cores = os.cpu_count() or 1
        readers, writers = max(1, min(4, cores)), max(1, min(4, cores // 2))
        path = model.path or weights.ensure(self._places.models)
        words: list[object] = ["--model", path, "--threads", readers, "--writers", writers]
        words += ["--context", model.context, "--pool", model.pool]
        return [*words, "--swa-full"] if model.info.window else words


def model_name(profile: ModelProfile) -> str:
    """The name of a profile's model, for people."""
    if profile.provider == EMBEDDED:
        return Path(profile.model_file).name or weights.NAME
    return profile.model or profile.provider


def _changed(path: Path | None) -> tuple[int, int] | None:
    """What changes when the file does; None while there is none."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if status else None
