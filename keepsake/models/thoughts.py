"""Takes the thoughts of a reasoning model out of its answer, whole or while it is written.

The common forms are known: ``<think>``, ``<thinking>``, ``<thought>`` and ``<reasoning>`` blocks,
``[THINK]``, ``◁think▷``, ``Thought: … Answer: …`` and the channels of harmony. A block may be
open at the end, and some templates open it inside the prompt, so that only its end comes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_NAMES = ("think", "thinking", "thought", "reasoning")
_OPEN = (*(f"<{name}>" for name in _NAMES), "[THINK]", "◁think▷")
_CLOSE = (*(f"</{name}>" for name in _NAMES), "[/THINK]", "◁/think▷")
_CHANNEL, _MESSAGE = "<|channel|>", "<|message|>"
_ENDS = ("<|start|>assistant", "<|start|>", "<|end|>", "<|return|>", "<|call|>")
_MARK = re.compile(
    rf"(?P<open>{'|'.join(map(re.escape, _OPEN))})|(?P<close>{'|'.join(map(re.escape, _CLOSE))})"
    rf"|(?P<end>{'|'.join(map(re.escape, _ENDS))})"
    r"|<\|channel\|>(?P<channel>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_LABELS, _ANSWERS = ("thought:", "thoughts:"), ("answer:", "final answer:")


class AnswerText:
    """The answer of a model, put together from the pieces that come.

    Args:
        heard: Called with each piece that is certain to be part of the answer.
        stop: Strings that end the answer; only where the server was not sent them.
        hold: Whether nothing is handed on before a thought has ended: for a model of which it is
            known that it thinks, and whose template may open its thought.

    Attributes:
        text: The answer so far.
        thought: Whether there was a thought.
        ended: Whether one of ``stop`` has come.
    """

    def __init__(
        self,
        heard: Callable[[str], None] | None = None,
        stop: Sequence[str] = (),
        *,
        hold: bool = False,
    ) -> None:
        self.text, self.thought, self.ended = "", False, False
        self._heard, self._stop, self._hold = heard, tuple(stop), hold
        self._buffer, self._told, self._inside = "", 0, False
        self._labelled: bool | None = None  # by ``Thought:``; None until that is known

    def feed(self, piece: str) -> None:
        """Take in what came."""
        if self.ended:
            return
        self._buffer += piece
        if self._begins():
            self._read(_undecided(self._buffer))
            self._tell(whole=False)

    def finish(self) -> str:
        """Nothing more comes: the answer."""
        if not self.ended:
            if not self._labelled:
                self._read(len(self._buffer))
            self._hold = False
            self._tell(whole=True)
        return self.text

    def _begins(self) -> bool:
        """Whether the beginning is behind us, or not a thought by its label."""
        if self._labelled is None:
            start = self._buffer.lstrip().lower()
            self._labelled = self.thought = start.startswith(_LABELS)
            if not self._labelled and any(each.startswith(start) for each in _LABELS):
                self._labelled = None
                return False
        if self._labelled:
            lines = self._buffer.splitlines(keepends=True)
            for at, line in enumerate(lines):
                bare = line.strip().lower()
                if label := next((each for each in _ANSWERS if bare.startswith(each)), ""):
                    rest = "".join(lines[at:]).lstrip()
                    self._buffer, self._labelled = rest[len(label) :].lstrip(), False
                    return True
            return False
        return True

    def _read(self, end: int) -> None:
        """Part thoughts from the answer in what has come, up to ``end``."""
        while (mark := _MARK.search(self._buffer, 0, end)) is not None:
            self._add(self._buffer[: mark.start()])
            self._pass(mark)
            self._buffer, end = self._buffer[mark.end() :], end - mark.end()
        self._add(self._buffer[:end])
        self._buffer = self._buffer[end:]

    def _pass(self, mark: re.Match[str]) -> None:
        channel = mark["channel"]
        if mark["open"] or (channel is not None and not channel.startswith("final")):
            self._inside = self.thought = True
        elif mark["close"]:
            if not self._inside:  # it was opened in the prompt: all before was a thought
                self.text, self._told = "", 0
            self._inside, self.thought, self._hold = False, True, False
        else:
            self._hold = self._hold and not self._inside
            self._inside = False

    def _add(self, text: str) -> None:
        if not self._inside:
            self.text += text if self.text or not self.thought else text.lstrip()

    def _tell(self, *, whole: bool) -> None:
        """Hand on what is certain."""
        cuts = [at for each in self._stop if (at := self.text.find(each)) >= 0]
        if cuts and not self._hold:
            self.text, self.ended, whole = self.text[: min(cuts)], True, True
        sure = len(self.text) if whole else len(self.text) - _begun(self.text, self._stop)
        if self._heard is not None and not self._hold and sure > self._told:
            piece, self._told = self.text[self._told : sure], sure
            self._heard(piece)


def _undecided(text: str) -> int:
    """Where what may become a mark begins; the length of the text if nowhere."""
    for at in (at for at, letter in enumerate(text) if letter in "<[◁"):
        rest = text[at:]
        channel = rest.startswith(_CHANNEL) and _MESSAGE not in rest
        marks = (*_OPEN, *_CLOSE, *_ENDS, _CHANNEL)
        if channel or any(mark.startswith(rest) and mark != rest for mark in marks):
            return at
    return len(text)


def _begun(text: str, stop: Sequence[str]) -> int:
    """How many characters at the end of the text may be the beginning of a stop string."""
    lengths = (n for each in stop for n in range(1, len(each)) if text.endswith(each[:n]))
    return max(lengths, default=0)
