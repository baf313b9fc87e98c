"""Reads a character's answer of one turn from the stream of a model, piece by piece.

The first sentence becomes a part as soon as the next one begins, everything else when its line
ends. In JSON and in tags only tool calls are read. What a line holds is in
:mod:`keepsake.tasks.answer`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from keepsake.happening import KnownVerb
from keepsake.language.perception import LAST_COMMA, QUOTES, pattern
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import ToolCall
from keepsake.tasks import text_calls
from keepsake.tasks.answer import AnswerPart, PartKind, command_parts, is_command, is_said, parts_of
from keepsake.tasks.deed import deed_of
from keepsake.tasks.gestures import OPENING, is_unclosed
from keepsake.tasks.others import LABEL, NOBODY_ELSE, Call, OtherVoices

log = get_logger(Subsystem.THOUGHTS)

MOST_PARTS = 32
"""The most parts of one answer: a long one has ten. A model that repeats itself writes hundreds,
and each would be spoken before everybody, archived and remembered."""
SHORTEST_AHEAD = 20
"""A sentence is spoken before its line ends only if it has this many characters: "Well?" waits."""

_FENCES = ("```", "~~~")
_JSON = ("{", "[{")
_SENTENCE_END = re.compile(r"(?:(?<=\w{4})\.|[!?…]+|\.{3})[\"”’»)*]*(?=\s+\S)|[。！？]+[」』”）]*")
"""A full stop ends a sentence only after four letters or more, so that titles do not end one."""


@dataclass
class AnswerReader:
    """A parser that reads one answer piece by piece.

    Attributes:
        name: The character's name. It is removed as a label before a line: ``Mira: Good day.``
        script: Whether the answer is a command of a transcript, one line without ``>``.
        others: Those whose lines end the answer: what the model writes after one, it invents.
        cut: The line with which it ended; empty if none has come.
        heard: Whether any text has arrived.
        altered: Lines from which a label, a fence or quotes were removed, and a note if the answer
            was cut; for the event log.
        full: Whether the answer has had :data:`MOST_PARTS`. What follows is left out, so the call
            may be cancelled.
    """

    name: str
    script: bool = False
    others: OtherVoices = NOBODY_ELSE
    altered: list[str] = field(default_factory=list)
    heard: bool = False
    full: bool = False
    cut: str = ""
    _count: int = 0  # parts returned so far
    _rest: str = ""
    _json: str = ""  # incomplete JSON
    _call: str = ""  # an incomplete tool call in tags
    _held: str = ""  # a line that begins a gesture and does not end it
    _has_begun: bool = False  # whether a sentence of the line in ``_rest`` was returned already
    _has_parts: bool = False  # whether any part was returned
    _spoken: bool = False  # whether there was speech: only the first sentence is spoken ahead
    _lines_said: int = 0  # lines with words to others
    _called: set[str] = field(default_factory=set)  # the names with which such lines began
    _call_held: Call | None = None  # a line that calls somebody, until the next one has come
    _label: re.Pattern[str] = field(init=False)

    def feed(self, piece: str) -> list[AnswerPart]:
        """Add a piece and return the parts that it completes; a line end completes the last."""
        self.heard = True
        self._label = pattern(LABEL.format(re.escape(self.name)), re.I)
        self._rest += piece
        *lines, self._rest = self._rest.split("\n")
        parts = list[AnswerPart]()
        for raw in self._calls_spoken(lines):
            if self._ends(raw):
                break
            if self._call or text_calls.opens(raw.strip()):
                parts += self._tagged_call(raw.strip())
                continue
            goes_on = bool(self._json) and not raw.strip().startswith(_FENCES)
            line = raw.strip() if self._has_begun or goes_on else self._bare(raw)
            if self._held:
                line = f"{self._held} {line}".strip()
                self._held = ""
            elif is_unclosed(line) and not goes_on:
                self._held = line  # the gesture may end in the next line
                continue
            self._has_begun = False
            is_json = goes_on or line.startswith(_JSON)
            if self.script and not is_json:  # after its first line the model continues the script
                command = f"> {line}" if is_command(line) else line
                line = "" if self._has_parts else command
            self._json = f"{self._json}{line}" if is_json else ""
            of_line = self._tool_calls() if is_json else list(parts_of(line, self.name))
            self._has_parts |= bool(of_line)
            self._spoken |= any(part.kind is PartKind.SPEECH for part in of_line)
            self._lines_said += any(map(is_said, of_line))
            parts += of_line
        if self.is_over:
            self._rest = ""
        elif not (self._spoken or self.script) and (ahead := self._sentence_ahead()):
            parts.append(ahead)
        return self._capped(parts)

    @property
    def is_over(self) -> bool:
        """Whether a line of somebody else has come."""
        return bool(self.cut)

    def _ends(self, raw: str) -> bool:
        """Whether the answer is over with this line, because it is one of somebody else."""
        if not (self.is_over or self._is_inside) and self.others.begin(raw.strip()):
            self._end_with(raw.strip())
        return self.is_over

    def _end_with(self, line: str) -> None:
        self.cut = line
        self.altered.append(f"(cut: it wrote a line of somebody else) {line}")

    @property
    def _is_inside(self) -> bool:
        """Whether the next line goes on with something that the one before has begun."""
        return bool(self._json or self._call or self._held or self._has_begun)

    def _calls_spoken(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines; one that calls somebody becomes words to that person.

        It is held until the next line has come: if that is the agent's own, labelled as such, the
        model has written a dialogue, and the held one is somebody else's.
        """
        for raw in lines:
            line = raw.strip()
            held = self._call_held
            if held is not None and line:
                self._call_held = None
                if self._label.match(line):
                    self._end_with(f"{held.name}: {held.words}")
                    return
                yield self._as_spoken(held)
            self._call_held = self._call_held or self._call_in(line)
            if self._call_held is None:
                yield raw

    def _call_in(self, line: str) -> Call | None:
        """Return the call with which a line begins, if it cannot be that person's answer."""
        if self._is_inside or self._lines_said > len(self._called):  # there is something to answer
            return None
        call = self.others.call_in(line)
        if call is None or call.name in self._called:
            return None
        goes_on = self.others.awaits and call.name == self.others.partner and not self._has_parts
        return None if goes_on else call

    def _as_spoken(self, call: Call) -> str:
        """Return a call as a line that says its words to that person."""
        self._called.add(call.name)
        self.altered.append(f"{call.name}: {call.words}")
        if call.name == self.others.partner:
            return call.words
        return f"> {KnownVerb.TALK} {call.name} = {call.words}"

    def end(self) -> list[AnswerPart]:
        """Return the parts of what is left when the answer has ended."""
        parts = self.feed("\n")
        if (call := self._call_held) is not None:
            self._call_held = None
            parts += self.feed(f"{self._as_spoken(call)}\n")
        return [*parts, *self.feed("\n")] if self._held else parts

    def _capped(self, parts: list[AnswerPart]) -> list[AnswerPart]:
        """Return the parts up to the cap of the whole answer, and note what is left out."""
        kept = parts[: MOST_PARTS - self._count]
        self._count += len(kept)
        if len(kept) < len(parts) and not self.full:
            self.full = True
            self.altered.append(f"(cut: it had more than {MOST_PARTS} parts)")
            log.warning(f"An answer had more than {MOST_PARTS} parts", agent=self.name)
        return kept

    def _tool_calls(self) -> list[AnswerPart]:
        """Return the deeds in the JSON so far: ``{"tool_call": {"name": …, "arguments": {…}}}``."""
        try:
            plain = LAST_COMMA.sub(r"\1", self._json)
            found, _ = json.JSONDecoder(strict=False).raw_decode(plain)
        except (ValueError, RecursionError):  # incomplete, or not JSON
            return []
        self.altered.append(self._json)
        self._json = ""
        inside = [found]
        deeds = list[AnswerPart]()
        while inside:
            match inside.pop(0):
                case {"name": str(name), "arguments": dict(given)} | {
                    "name": str(name),
                    "parameters": dict(given),
                }:
                    deeds += command_parts(deed_of(ToolCall(name, given)), self.name)
                case dict(each):
                    inside = [*each.values(), *inside]
                case list(each):
                    inside = [*each, *inside]
        return deeds

    def _tagged_call(self, line: str) -> list[AnswerPart]:
        """Add a line to a tool call in tags; return its deed if it is complete."""
        self._call += f"{line}\n"
        if not text_calls.closes(line):
            return []
        call = text_calls.read(self._call)
        self.altered.append(self._call.strip())
        self._call = ""
        deeds = [] if call is None else [*command_parts(deed_of(call), self.name)]
        self._has_parts |= bool(deeds)
        return deeds

    def _sentence_ahead(self) -> AnswerPart | None:
        """Return the first sentence of the unfinished line, if it is plain speech."""
        opening = self._label.sub("", self._rest.lstrip())[:1]
        marks = ("", ">", "`", "~", "{", "<", *OPENING, *QUOTES)
        if self._json or self._call or self._held or self._call_held or opening in marks:
            return None  # not speech, or speech whose end is needed
        begun = self._rest.lstrip()
        if begun.startswith(self.name) or self.others.may_begin(begun):
            return None  # it may tell of the character, as a story does, or be somebody else's
        ends = (each for each in _SENTENCE_END.finditer(self._rest) if each.end() >= SHORTEST_AHEAD)
        end = next(ends, None)
        if end is None:
            return None
        said = self._rest[: end.end()]
        rest = self._rest[end.end() :]
        parts = list(parts_of(self._bare(said), self.name))
        if len(parts) != 1 or parts[0].kind is not PartKind.SPEECH:
            return None
        self._rest = rest
        self._has_begun = True
        self._spoken = True
        self._lines_said += 1
        return parts[0]

    def _bare(self, raw: str) -> str:
        """Return a line without fence, label, JSON tag, and quotation marks around all of it."""
        line = raw.strip()
        tag, sign, rest = line.partition(">")
        is_tag = sign and tag[:1] == "<" and (not rest or rest.lstrip().startswith(_JSON))
        fence = line.lstrip("`~") if line.startswith(_FENCES) else " "
        if is_tag or fence.isalnum() is bool(fence):
            self.altered.append(line)
            return rest.strip() if is_tag else ""
        bare = text_calls.as_json(self._label.sub("", line))
        close = QUOTES.get(bare[:1])
        if close and len(bare) > 2 and bare.find(close, 1) == len(bare) - 1:
            bare = bare[1:-1].strip()
        if bare != line:
            self.altered.append(line)
        return bare
