"""Takes the thoughts of a reasoning model out of its answer, whole or while it is written.

The common forms are known: ``<think>``, ``<thinking>``, ``<thought>`` and ``<reasoning>`` blocks,
``[THINK]``, ``◁think▷``, ``Thought: … Answer: …`` and the channels of harmony. A block may be
open at the end, and some templates open it inside the prompt, so that only its end comes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_NAMES = "think|thinking|thought|reasoning"
_MARK = re.compile(
    rf"(?P<open><(?:{_NAMES})>|\[THINK\]|◁think▷)"
    rf"|(?P<close></(?:{_NAMES})>|\[/THINK\]|◁/think▷)"
    r"|(?P<end><\|start\|>(?:assistant)?|<\|end\|>|<\|return\|>|<\|call\|>)"
    r"|<\|channel\|>(?P<channel>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_UNDECIDED = re.compile(
    r"(?:<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)?(?:<\|start\|>\w*|[<\[◁][^\s<>\[\]]*)?\Z"
)
"""What may become a mark, at the end of what has come."""
_LABELS = ("thought:", "thoughts:")
_ANSWER = re.compile(r"^\s*(?:final )?answer:\s*", re.I | re.M)


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
        told: What was handed on.
    """

    def __init__(
        self,
        heard: Callable[[str], None] | None = None,
        stop: Sequence[str] = (),
        *,
        hold: bool = False,
    ) -> None:
        self.text = self.told = ""
        self.thought = self.ended = False
        self._raw, self._heard, self._stop, self._hold = "", heard, tuple(stop), hold

    def feed(self, piece: str, *, whole: bool = False) -> None:
        """Take in what came; ``whole`` if nothing more comes."""
        if self.ended:
            return
        self._raw += piece
        self.text, self.thought, inside = _parted(self._raw, whole=whole)
        self._hold = self._hold and not whole and (inside or not self.thought)
        if self._hold:
            return
        if cuts := [at for each in self._stop if (at := self.text.find(each)) >= 0]:
            self.text, self.ended, whole = self.text[: min(cuts)], True, True
        sure = self.text
        if not whole and self._stop:  # the end may be the beginning of a stop string
            starts = (each[:n] for each in self._stop for n in range(1, len(each)))
            begun = max((len(each) for each in starts if sure.endswith(each)), default=0)
            sure = sure[: len(sure) - begun]
        if not sure.startswith(self.told):  # all so far was a thought
            self.told = ""
        if self._heard is not None and len(sure) > len(self.told):
            told, self.told = self.told, sure
            self._heard(sure[len(told) :])


def _parted(raw: str, *, whole: bool) -> tuple[str, bool, bool]:
    """The answer in what has come, whether there was a thought, and whether one is open."""
    start, thought = raw.lstrip().lower(), False
    if start.startswith(_LABELS):
        if (answer := _ANSWER.search(raw)) is None:
            return "", True, True
        raw, thought = raw[answer.end() :], True
    elif not whole and any(each.startswith(start) for each in _LABELS):
        return "", False, False
    end = len(raw)
    if not whole and (begun := _UNDECIDED.search(raw)):
        end = begun.start()
    text, at, inside = "", 0, False
    for mark in [*_MARK.finditer(raw, 0, end), None]:
        part = raw[at : mark.start() if mark else end]
        if not inside:
            text += part if text or not thought else part.lstrip()
        if mark is None:
            break
        at, channel = mark.end(), mark["channel"]
        if mark["open"] or (channel is not None and not channel.startswith("final")):
            inside = thought = True
        elif mark["close"]:
            text = text if inside else ""  # it was opened in the prompt: all before was a thought
            inside, thought = False, True
        else:
            inside = False
    return text, thought, inside
