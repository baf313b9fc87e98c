"""Removes what is no answer from a model's answer, complete or streamed.

Thoughts of a reasoning model are removed. The known forms are: ``<think>``, ``<thinking>``,
``<thought>`` and ``<reasoning>`` blocks, ``[THINK]``, ``◁think▷``, ``<|begin_of_thought|>``,
``<|START_THINKING|>``, harmony's channels, and an answer that begins with ``Thought:`` and goes on
with ``Answer:``. The end of a block may be missing. Some templates open the block in the
prompt, so the answer holds only its end.

Control tokens of a chat template are no answer either. A server whose stop tokens are wrong passes
them on, and the model then writes the next turn of the other side, too: ``Good day.<|im_end|>`` and
``<|im_start|>user``. So the answer ends at the first one after its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from keepsake.language.perception import visible

_NAMES = r"(?:\w+:)?(?:think|thinking|thought|reasoning)"
_CONTROL = (
    r"<(?:[|｜][^\s<>|｜]{1,40}[|｜]?|[^\s<>|｜]{1,40}[|｜])>"
    r"|</?s>|<(?:bos|eos|pad)>|<(?:start|end)_of_turn>|\[/?INST\]"
)
"""A control token of a chat template: those between bars, which are most, and those of the Llama 2,
Mistral and Gemma families. After one may stand the role of who speaks."""
_MARK = re.compile(
    rf"(?P<open><{_NAMES}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>)"
    rf"|(?P<close></{_NAMES}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>)"
    r"|(?P<end><\|start\|>(?:assistant)?|<\|(?:end|return|call|(?:begin|end)_of_solution"
    r"|(?:start|end)_response)\|>)"
    r"|(?P<thought>\A\s*thoughts?:)|(?P<answer>^\s*(?:final\s)?answer:\s*)"
    r"|<\|channel\|>(?P<channel>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"|(?P<tool><[|｜](?:tool|python)[^\s<>|｜]{0,40}[|｜]>)"
    rf"|(?P<control>{_CONTROL})(?:(?:assistant|model)(?=\s*(?:\n|<|\Z)))?",
    re.I | re.M,
)
_UNDECIDED = re.compile(
    r"(?:<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)?"
    r"(?:(?:<[|｜][^\s<>|｜]{1,40}[|｜]>|<start_of_turn>)\w*|[<\[◁][^\s<>\[\]]*)?\Z"
    r"|\A\s*[Tt]h?o?u?g?h?t?s?\Z"
)
"""Text at the end of the stream that may be the beginning of a mark."""


@dataclass
class AnswerText:
    """The answer of a model, assembled from streamed pieces."""

    on_text: Callable[[str], None] | None = None
    """Called with each piece that is certain to be part of the answer."""
    stop: Sequence[str] = ()
    """Strings that end the answer; set only if they were not sent to the server."""
    hold: bool = False
    """Whether to pass nothing on before the end of a thought: for a model that is known to think,
    because its template may open the thought in the prompt."""
    text: str = ""  # the answer so far
    passed: str = ""  # the part of it that was passed on
    thought: bool = False  # whether there was a thought
    ended: bool = False  # whether one of ``stop``, or a token that ends a turn, has arrived
    _raw: str = ""

    def feed(self, piece: str, *, whole: bool = False) -> None:
        """Add a piece; ``whole`` if it is the last one."""
        if self.ended:
            return
        # Some servers cut a character in two and send a replacement character for each part.
        self._raw += (piece if piece.isprintable() else visible(piece)).replace("\ufffd", "")
        parted = _parted(self._raw, whole=whole)
        self.text = parted.text
        self.thought = parted.thought
        if parted.over:
            self.ended = True
            whole = True
        self.hold = self.hold and not whole and (parted.inside or not self.thought)
        if self.hold:
            return
        cuts = [self.text.index(each) for each in self.stop if each in self.text]
        if cuts:
            self.text = self.text[: min(cuts)]
            self.ended = True
            whole = True
        sure = self.text
        if not whole and self.stop:  # the end may be the beginning of a stop string
            starts = (each[:n] for each in self.stop for n in range(1, len(each)))
            begun = max((len(each) for each in starts if sure.endswith(each)), default=0)
            sure = sure[: len(sure) - begun]
        if not sure.startswith(self.passed):  # everything passed on so far was a thought
            self.passed = ""
        if self.on_text is not None and len(sure) > len(self.passed):
            passed = self.passed
            self.passed = sure
            self.on_text(sure[len(passed) :])


class _Parted(NamedTuple):
    """What a text holds."""

    text: str  # the answer
    thought: bool  # whether there was a thought
    inside: bool  # whether one is still open
    over: bool  # whether the turn is over, so that nothing else belongs to the answer


def _parted(raw: str, *, whole: bool) -> _Parted:
    """Separate the answer in a text from thoughts and control tokens."""
    begun = None if whole else _UNDECIDED.search(raw)
    end = begun.start() if begun else len(raw)
    text = ""
    at = 0
    thought = False
    inside = False
    opened = False  # whether a control token stands before the text
    for mark in [*_MARK.finditer(raw, 0, end), None]:
        part = raw[at : mark.start() if mark else end]
        if not inside:
            text += part if text or not (thought or opened) else part.lstrip()
        if mark is None:
            break
        at = mark.end()
        channel = mark["channel"]
        if mark["answer"] and not inside:  # "Answer:" is part of the answer itself
            text += mark[0]
        elif mark["tool"]:  # what follows is the text of a tool call
            text += "\n" if text and not inside else ""
        elif mark["control"]:
            if text.strip() and not inside:
                return _Parted(text, thought, inside, over=True)
            opened = True
        elif (
            mark["open"]
            or mark["thought"]
            or (channel is not None and not channel.startswith("final"))
        ):
            inside = True
            thought = True
        elif mark["close"] or mark["answer"]:
            text = text if inside else ""  # opened in the prompt: all text before was a thought
            inside = False
            thought = True
        else:
            inside = False
    return _Parted(text, thought, inside, over=False)
