"""The tokenizer of a model server, where it lets others use it: ``POST /tokenize``.

llama.cpp takes ``content`` and vLLM (and who follows it) takes ``prompt``; neither minds
the other's field, so the first question has both and the answer tells who it is. OpenAI's
own protocol has no such call, and neither has Ollama.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from game.mind.errors import BadAnswer, ModelMissing, ModelRejected

Post = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a body to ``/tokenize`` and gives the answer; raises ModelError."""

ASK_AGAIN_SECONDS = 600.0
"""A server that had no tokenizer may have been replaced by one that has."""

_SEAM = -1
"""Stands between the texts of one question; no token has a number below 0."""


class _Kind(Enum):
    NONE = auto()
    LLAMA_CPP = auto()
    LLAMA_CPP_SINGLY = auto()
    VLLM = auto()


class Tokenizer:
    """Counts tokens by the server's tokenizer. Safe to use from several threads."""

    def __init__(
        self, post: Post, model: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._post = post
        self._model = model
        self._clock = clock
        self._kind: _Kind | None = None
        self._asked = float("-inf")

    def count(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text, without a mark for the beginning; None: it cannot say.

        Raises:
            ModelError: It did not answer; it may the next time.
        """
        rested = self._clock() - self._asked >= ASK_AGAIN_SECONDS
        if self._kind is None or (self._kind is _Kind.NONE and rested):
            self._kind = self._find()
            self._asked = self._clock()
        try:
            return self._counted(list(texts))
        except (BadAnswer, ModelMissing, ModelRejected):
            self._kind, self._asked = _Kind.NONE, self._clock()
            return None

    def _counted(self, texts: list[str]) -> list[int] | None:
        if self._kind is _Kind.LLAMA_CPP:
            if (counts := self._at_once(texts)) is not None:
                return counts
            self._kind = _Kind.LLAMA_CPP_SINGLY
        if self._kind is _Kind.LLAMA_CPP_SINGLY:
            return [len(_numbers(self._post({"content": text}))) for text in texts]
        if self._kind is _Kind.VLLM:
            return [self._vllm(text) for text in texts]
        return None

    def _find(self) -> _Kind:
        text = "Good morning"
        try:
            answer = self._post({"content": text} | self._prompt(text))
            return _Kind.LLAMA_CPP if "count" not in answer and _numbers(answer) else _Kind.VLLM
        except (BadAnswer, ModelMissing, ModelRejected):
            return _Kind.NONE

    def _at_once(self, texts: list[str]) -> list[int] | None:
        """All texts in one question, or None when the server does not do that.

        llama.cpp takes a list of texts and token numbers. Each text is cut up by itself,
        and the numbers come back as they are: ours show where a text ends.
        """
        content = [part for text in texts for part in (text, _SEAM)]
        try:
            numbers = _numbers(self._post({"content": content}))
        except (BadAnswer, ModelRejected):
            return None
        counts = [0]
        for number in numbers:
            if number == _SEAM:
                counts.append(0)
            else:
                counts[-1] += 1
        return counts[:-1] if len(counts) == len(texts) + 1 and counts[-1] == 0 else None

    def _vllm(self, text: str) -> int:
        found = self._post(self._prompt(text)).get("count")
        if not isinstance(found, int) or found < 0:
            raise BadAnswer("The model server's /tokenize gave no count", "Look at its log")
        return found

    def _prompt(self, text: str) -> dict[str, Any]:
        body: dict[str, Any] = {"prompt": text, "add_special_tokens": False}
        return body | ({"model": self._model} if self._model else {})


def _numbers(answer: Mapping[str, Any]) -> list[int]:
    found = answer.get("tokens")
    if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
        raise BadAnswer("The model server's /tokenize gave no list of tokens", "Look at its log")
    return found
