"""Parses a character's answer of one turn into parts: speech, emotes and deeds.

A plain line is spoken, ``*…*`` is an emote, and a line that begins with ``>`` is a deed. An answer
may hold several of each. :class:`AnswerReader` parses the stream: the first sentence becomes a part
as soon as the next one begins, everything else when its line ends. A transcript's answer, such as
``say Good day! | kind``, yields the same parts. In JSON only tool calls are read. The parser is
independent of the language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keepsake.happening import KnownVerb
from keepsake.language.perception import LAST_COMMA, QUOTES, one_line, pattern, unquoted
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import ToolCall
from keepsake.tasks import text_calls
from keepsake.tasks.deed import deed_of
from keepsake.tasks.gestures import OPENING, is_unclosed, pieces_of
from keepsake.tasks.others import LABEL, NOBODY_ELSE, Call, OtherVoices

log = get_logger(Subsystem.THOUGHTS)

LONGEST_PART = 1000
"""The most characters of one spoken line, which is the limit of the game's ``say``."""

MOST_PARTS = 32
"""The most parts of one answer: a long one has ten. A model that repeats itself writes hundreds,
and each would be spoken before everybody, archived and remembered."""
SHORTEST_AHEAD = 20
"""A sentence is spoken before its line ends only if it has this many characters: "Well?" waits."""
RECITED = 40
"""A line is refused if it has this many consecutive letters and digits of the instructions."""
SHORT_LINE = 20
"""The most letters and digits of a line that may be repeated: a yes, a name, a greeting."""

_FENCES = ("```", "~~~")
_JSON = ("{", "[{")
_SENTENCE_END = re.compile(r"(?:(?<=\w{4})\.|[!?…]+|\.{3})[\"”’»)*]*(?=\s+\S)|[。！？]+[」』”）]*")
"""A full stop ends a sentence only after four letters or more, so that titles do not end one."""
_OPENING = ">*([¿¡…'‘\"“„«「"


_TO_SOMEBODY = re.compile(rf"(?:{KnownVerb.TALK}|{KnownVerb.WHISPER}) [^=:]+[=:]\s*", re.I)
"""How a deed that speaks to somebody begins: ``talk Nell = ``."""


class PartKind(StrEnum):
    """The kind of one part of an answer."""

    SPEECH = "speech"
    EMOTE = "emote"
    DEED = "deed"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One thing that the character says or does."""

    kind: PartKind
    text: str  # the words, the gesture without its asterisks, or the command without ``>``
    reason: str = ""  # the private reason of speech or an emote; a deed has it in ``text``


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
                line = "" if self._has_parts else f"> {line}" if _is_command(line) else line
            self._json = f"{self._json}{line}" if is_json else ""
            of_line = self._tool_calls() if is_json else list(_parts_of(line, self.name))
            self._has_parts |= bool(of_line)
            self._spoken |= any(part.kind is PartKind.SPEECH for part in of_line)
            self._lines_said += any(map(_is_said, of_line))
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
                    deeds += _command(deed_of(ToolCall(name, given)), self.name)
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
        deeds = [] if call is None else [*_command(deed_of(call), self.name)]
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
        parts = list(_parts_of(self._bare(said), self.name))
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


def _parts_of(line: str, name: str) -> Iterator[AnswerPart]:
    """Yield the parts of one line: a deed, or speech with the emotes in it."""
    if line.startswith(">"):
        yield from _command(_clean(line.lstrip("> ")), name)
        return
    yield from _said(line, name)


def _said(text: str, name: str) -> Iterator[AnswerPart]:
    """Yield the speech of a text, and the emotes in it."""
    for piece in pieces_of(text, name):
        if not piece.is_gesture:
            yield from _speech(piece.text)
        elif gesture := _clean(piece.text):
            yield AnswerPart(PartKind.EMOTE, gesture)


def _command(line: str, name: str) -> Iterator[AnswerPart]:
    """Yield the deed of a command; ``say`` and ``emote`` become speech and emotes.

    A gesture within words to somebody becomes an emote between two deeds.
    """
    command, _, reason = line.partition(" | ")
    verb, _, words = command.partition(" ")
    if verb.casefold() == KnownVerb.SAY:
        yield from (replace(part, reason=reason) for part in _said(unquoted(words), name))
    elif (to := _TO_SOMEBODY.match(command)) is not None:
        yield from _to_somebody(line, to[0], command[to.end() :], reason, name)
    elif verb.casefold() == KnownVerb.EMOTE:
        if gesture := _clean(words.strip("* ")):
            yield AnswerPart(PartKind.EMOTE, gesture, reason)
    elif line:
        yield AnswerPart(PartKind.DEED, line)


def _to_somebody(line: str, to: str, words: str, reason: str, name: str) -> Iterator[AnswerPart]:
    """Yield a deed that speaks to somebody; the emotes in its words divide it.

    Args:
        line: The whole deed.
        to: How it begins: ``talk Nell = ``.
    """
    parts = list(_said(words, name))
    if all(part.kind is PartKind.SPEECH for part in parts):
        yield AnswerPart(PartKind.DEED, line)
        return
    why = f" | {reason}" if reason else ""
    for part in parts:
        is_speech = part.kind is PartKind.SPEECH
        yield AnswerPart(PartKind.DEED, f"{to}{part.text}{why}") if is_speech else part


def _is_said(part: AnswerPart) -> bool:
    """Whether a part has words for others."""
    is_deed = part.kind is PartKind.DEED
    return bool(_TO_SOMEBODY.match(part.text)) if is_deed else part.kind is PartKind.SPEECH


def _is_command(line: str) -> bool:
    """Whether a line is a command, not a sentence: it begins with a small letter or a symbol."""
    return bool(line) and (line[0].islower() or not (line[0].isalnum() or line[0] in _OPENING))


def _speech(text: str) -> Iterator[AnswerPart]:
    """Yield the words, in parts of :data:`LONGEST_PART` characters that end between words."""
    words = _clean(text)
    at = 0
    while at < len(words):
        end = at + LONGEST_PART
        if end < len(words):
            space = words.rfind(" ", at, end)
            end = space if space > at else end
        yield AnswerPart(PartKind.SPEECH, words[at:end].strip())
        at = end


def _clean(text: str) -> str:
    """Return the text as one line without control characters; empty without letters or digits."""
    line = one_line(text)
    return line if any(char.isalnum() for char in line) else ""


# -- lines that are refused: empty ones, recited instructions, the last line repeated


def bare(text: str) -> str:
    """Return the letters and digits of a text in lower case, for comparisons."""
    return "".join(filter(str.isalnum, text.casefold()))


def recites(said: str, instructions: str, told: str = "") -> bool:
    """Whether a bare text shares :data:`RECITED` consecutive characters with bare instructions.

    ``told``: Bare text that may be repeated even if the instructions hold it.
    """
    runs = (said[at : at + RECITED] for at in range(len(said) - RECITED + 1))
    return any(run in instructions and run not in told for run in runs)
