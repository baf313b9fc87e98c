"""How a server refuses a request, and what its errors are called; no key is ever in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from keepsake.errors import (
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    PromptTooLong,
)

HIDDEN = "[secret]"
_EXCERPT = 200
_LOGIN = re.compile(r"(?<=://)[^\s/@]+@")
_TOO_LONG = re.compile(
    r"exceed\w*[\w ]{0,24}context|context[_ ](?:length|size|window)|maximum model length"
    r"|prompt is too long|max_new_tokens.? must be <=",
    re.IGNORECASE,
)
"""What OpenAI, vLLM, llama.cpp, Ollama, LM Studio and TGI say of a prompt that is too long."""
_LIMIT = re.compile(
    r"n_ctx\W{1,4}(\d+)|(?:context|model)[_ ](?:length|size|window)\D{0,24}(\d+)"
    r"|> (\d+) maximum|must be <= (\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors speak of one server."""

    name: str  # what it is, with its address
    cure_absent: str  # what to do when nobody answers
    cure_missing: str  # what to do when the model is not there
    # what it is sent as a key, which its errors may quote; nothing says it on
    key: str = field(default="", repr=False)

    def without_key(self, body: str) -> str:
        """What it said, on one line, without the key."""
        line = " ".join(body.split())
        return line.replace(self.key, HIDDEN) if self.key else line

    def quoted(self, body: str) -> str:
        """The beginning of that."""
        line = self.without_key(body)  # before it is cut: half a key would not be known for one
        return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"


def shown(host: str) -> str:
    """An address as errors name it: without the user name and the password in it."""
    return _LOGIN.sub(f"{HIDDEN}@", host)


def retry_after(written: str) -> float:
    """Seconds of a header ``Retry-After``, which is a number or a date; 0 if it says nothing."""
    try:
        return max(float(written), 0.0)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(written)
    except ValueError:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)


def from_status(status: int, body: str, server: ServerWords, wait: float = 0.0) -> ModelError:
    """The named error for a status that is no success; ``said`` of it is the whole body.

    ``wait``: Seconds after which the server wants to be asked again; 0 if it does not say.
    """
    error = _from_status(status, body, server, wait)
    error.said = server.without_key(body)
    return error


def _from_status(status: int, body: str, server: ServerWords, wait: float) -> ModelError:
    what = f"HTTP {status}: {server.quoted(body)}"
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body):
        limits = [int(each) for found in _LIMIT.findall(body) for each in found if each]
        cure = "Prompts are made shorter; or give the model a larger context"
        told = f"{server.name} found the prompt too long ({what})"
        return PromptTooLong(told, cure, min(limits, default=0))
    if status in (404, 405) or (status == 400 and "not found" in body):
        return ModelMissing(f"{server.name} has no such model ({what})", server.cure_missing)
    if status in (401, 403):
        cure = "Set KEEPSAKE_OPENAI_API_KEY in the environment of the game"
        return ModelRejected(f"{server.name} refused the key ({what})", cure)
    if status == 429:
        return ModelBusy(f"{server.name} is asked too often ({what})", "Lower in_flight", wait)
    if status == 503 or (status >= 500 and "loading model" in body.lower()):
        return ModelBusy(f"{server.name} is not ready ({what})", "Wait a little", wait)
    if status >= 500:
        return ModelFailed(f"{server.name} failed ({what})", "Look at its log")
    cure = "Check model, context_tokens and max_tokens in llm.md"
    return ModelRejected(f"{server.name} refused the request ({what})", cure)
