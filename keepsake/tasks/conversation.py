"""The window of a memory as the turns of a conversation.

Everything that a character perceives between two of its own acts is one user message. What it says
and does is an assistant message, in the form in which a model is asked to answer. A message depends
only on its own memories and those before them. So a longer window begins with the same messages
as a shorter one, and the model server's prefix cache works.

The order is that of the archive. An answer that others interrupted comes after the interruption,
as everybody heard it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import NamedTuple

from keepsake.archive.message_types import MessageType
from keepsake.archive.old_lines import what_of
from keepsake.archive.privacy import is_private, is_redacted
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.transcript import DAYTIMES, heading_after
from keepsake.happening import (
    ME,
    KnownVerb,
    Manner,
    Person,
    Pose,
    Result,
    Speech,
    addressees_of,
)
from keepsake.language.perception import for_prompt, sentences, shorten
from keepsake.ports import ASSISTANT, USER
from keepsake.tasks.stated import Statement

PAUSE = timedelta(minutes=5)
"""The shortest silence that a window tells. An agent with nothing to do acts after 4.5 minutes, so
a talk that goes on has shorter ones."""
NOTED = frozenset(
    {
        KnownVerb.PLAN,
        KnownVerb.DONE,
        KnownVerb.CANCEL,
        KnownVerb.PROMISE,
        KnownVerb.KEPT,
        KnownVerb.AGREE,
        KnownVerb.DECLINE,
    }
)
"""Verbs of deeds whose result is what they say."""
_LONGEST_OF_EXCERPT = 300
"""The most characters of one line in an excerpt."""

type Later = Callable[[timedelta], str]
"""Returns a line that says how much time has passed: ``[9 minutes later]``; empty for none. The
time is negative if the clock was set back."""


class ChatTurn(NamedTuple):
    """Consecutive lines of one role in the conversation."""

    role: str  # ``user`` for what happened, ``assistant`` for what the character did
    lines: list[str]
    told: list[Statement]  # the statements among the lines


def _says_nothing(_: timedelta) -> str:
    return ""


def turns_of(
    window: Iterable[Memory],
    later: Later = _says_nothing,
    stated: Iterable[Statement] = (),
) -> list[ChatTurn]:
    """Return the turns of a window.

    Args:
        window: Memories that the audience may know, oldest first, with times in any zone.
        later: Says how much time has passed, after a silence of :data:`PAUSE` or more.
        stated: Facts that stand between the memories, each behind the one that it names.

    Returns:
        Turns in order. The first has the role ``user``; roles alternate.
    """
    turns: list[ChatTurn] = []
    before = None
    asker: Person | None = None
    views = _Views()
    facts = deque(sorted(stated, key=lambda each: each.after))
    for memory in window:
        while facts and facts[0].after < memory.number:
            _tell(turns, facts.popleft(), views)
        hidden = _hidden_whisper(memory)
        own = memory.kind is MemoryKind.ACT and not hidden
        if _is_left_out(memory, own=own):
            continue
        passed = _passed(before, memory, later)
        if when := heading_after(memory, before):
            passed.append(when)
        if passed or not own:
            _turn(turns, USER).lines.extend(passed)
        lines = _turn(turns, ASSISTANT if own else USER).lines
        if asks(memory):
            asker = memory.actor
        views.notice(memory)
        line = own_line(memory, asker) if own else hidden or for_prompt(views.line(memory))
        if own and lines and before is not None and _continues(memory, before, asker):
            lines[-1] = f"{lines[-1]} {line}"  # the first sentence was spoken ahead
        elif not (hidden and lines[-1:] == [hidden]):
            lines.append(line)
        before = memory
    for fact in facts:
        _tell(turns, fact, views)
    return turns


def _turn(turns: list[ChatTurn], role: str) -> ChatTurn:
    """Return the last turn if it has this role; else begin one. The first is the user's."""
    if not turns and role != USER:
        turns.append(ChatTurn(USER, [], []))
    if not turns or turns[-1].role != role:
        turns.append(ChatTurn(role, [], []))
    return turns[-1]


def _tell(turns: list[ChatTurn], fact: Statement, views: _Views) -> None:
    """Add a fact to what happened."""
    turn = _turn(turns, USER)
    turn.lines.extend(line for line, _ in fact.lines)
    turn.told.append(fact)
    views.tell(fact)


def _is_left_out(memory: Memory, *, own: bool) -> bool:
    """Whether a conversation shows no line of a memory; ``own``: Whether it is shown as an act."""
    # A stock phrase would be a bad example of an answer.
    if (own and memory.event == MessageType.SHRUG) or memory.event == MessageType.FORGOTTEN:
        return True
    what = memory.what
    if is_redacted(memory) and not isinstance(what, Speech):
        return True  # that something private was done says nothing without the words
    # The result of such a deed says it again; a plan or promise stands among the others too.
    return isinstance(what, Result) and what.done and what.verb in NOTED


def _passed(before: Memory | None, memory: Memory, later: Later) -> list[str]:
    """Return a line about the time between two memories; none if it was short.

    It is negative if the clock was set back meanwhile.
    """
    silence = memory.time - before.time if before is not None else timedelta()
    return list(filter(None, [later(silence)])) if abs(silence) >= PAUSE else []


class _Views:
    """Shows the description of each place once, and names the places to which the agent followed.

    A later look at the same place is shown as its first sentence, which names the place, and the
    sentences that are new, such as who is there now. A place that the agent comes to behind
    somebody, or again, is named with who is there: the prompt describes where the agent is now.
    """

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}
        self._follows = False

    def notice(self, memory: Memory) -> None:
        """Take note of an own act: whether the agent follows somebody from then on."""
        if memory.is_own and memory.verb in _LEADING:
            self._follows = memory.verb == KnownVerb.FOLLOW

    def tell(self, fact: Statement) -> None:
        """Take note of a fact that describes a place."""
        if fact.place:
            lines = (line for line, _ in fact.lines)
            told = self._told.setdefault(fact.place, set())
            told.update(sentence for line in lines for sentence in sentences(line))

    def line(self, memory: Memory) -> str:
        """Return the line of a memory, shortened if it is a look that tells little new."""
        if not _is_view(memory) or not memory.place:
            return memory.line
        first, *others = sentences(memory.line) or [memory.line]
        came = isinstance(memory.what, Result) and memory.what.verb == KnownVerb.GO
        if came and (self._follows or memory.place in self._told):
            return " ".join([first, *(each for each in others if each.startswith(_WHO_IS_THERE))])
        told = self._told.setdefault(memory.place, set())
        new = [each for each in others if each not in told]
        told.update(others)
        return " ".join([first, *new])


def _is_view(memory: Memory) -> bool:
    """Whether the agent saw a place: by a look around, or because it came there."""
    what = memory.what
    by_act = isinstance(what, Result) and what.done and what.verb in _VIEWS
    return by_act or memory.event == MessageType.LOOK


_VIEWS = frozenset({KnownVerb.LOOK, KnownVerb.GO, KnownVerb.WALK, KnownVerb.FOLLOW})
_LEADING = frozenset({KnownVerb.FOLLOW, KnownVerb.STAY})
"""The verbs that begin and end following."""
_WHO_IS_THERE = "Here: "
"""How a look begins the sentence with the people of a place."""


def _hidden_whisper(memory: Memory) -> str:
    """Return ``You whisper to Tom.`` for an own whisper without its words; else empty."""
    return for_prompt(memory.text) if memory.said is not None and is_redacted(memory) else ""


def asks(memory: Memory) -> bool:
    """Whether somebody turns to the agent, by words to it or to everybody, or by a deed.

    Plain lines of an answer are for the person who did so last.
    """
    if memory.is_own or memory.actor is None:
        return False
    if (said := memory.heard) is not None:
        return said.is_to_me_or_all
    return ME in addressees_of(memory.what)


class OwnLine(NamedTuple):
    """A line that the agent said.

    Attributes:
        answered: The words that it answered: what the person to whom it was said has said since the
            answer before. If they said nothing, the lines of what they did. If it was said to
            nobody, the person is who turned to the agent last. Empty for nothing.
        to: The key of the person to whom it was said; empty for nobody.
        is_last_word: Whether nobody has turned to the agent since.
    """

    words: str
    answered: str = ""
    to: str = ""
    is_last_word: bool = False


def in_pieces(lines: Iterable[OwnLine]) -> tuple[OwnLine, ...]:
    """Return own lines, and each run of whole sentences of the longer ones as a line of its own.

    A small model says its welcome again in pieces. A capable one that says a sentence again means
    it, so only its whole lines count.
    """
    found: list[OwnLine] = []
    for line in lines:
        parts = sentences(line.words)
        runs = combinations(range(len(parts) + 1), 2)
        shorter = (parts[at:end] for at, end in runs if end - at < len(parts))
        found += [line, *(OwnLine(" ".join(run), line.answered, line.to) for run in shorter)]
    return tuple(found)


def own_lines(window: Iterable[Memory]) -> list[OwnLine]:
    """Return what the agent said in a window, with what each line answered, oldest first."""
    waiting: dict[str, list[Memory]] = {}
    answered: dict[str, str] = {}
    lines: list[OwnLine] = []
    replied = 0  # how many of the lines were said before somebody turned to the agent
    asker = ""
    for memory in window:
        if asks(memory):
            asker = memory.key
            replied = len(lines)
            waiting.setdefault(asker, []).append(memory)
        elif (own := memory.said) is not None:
            listener = own.listener.key if own.listener is not None else ""
            to = listener or asker
            seen = memory.answers or memory.number
            known = [each for each in waiting.get(to, ()) if each.number <= seen]
            if known:  # else it goes on with the answer before
                answered[to] = words_of(known)
                waiting[to] = [each for each in waiting[to] if each.number > seen]
            lines.append(OwnLine(own.words, answered.get(to, ""), listener))
    return [*lines[:replied], *(each._replace(is_last_word=True) for each in lines[replied:])]


def words_of(memories: Iterable[Memory]) -> str:
    """Return what was said in memories; their lines, if nothing was."""
    kept = list(memories)
    said = " ".join(each.heard.words for each in kept if each.heard is not None)
    return said or " ".join(each.text for each in kept)


def own_line(act: Memory, asker: Person | None = None) -> str:
    """Format an own act like an answer: ``Good day!``, ``*nods*``, ``> give cup to Tom``.

    Args:
        asker: Who turned to the agent last, to whom plain words are spoken. Words to somebody else
            are shown as the deed ``> talk Bram = Good day!``.
    """
    match act.what:
        case Speech(manner=Manner.SAY) as speech:
            words = for_prompt(speech.words)
            return (
                words
                if _is_plain(speech, asker)
                else f"> talk {for_prompt(speech.to_name)} = {words}"
            )
        case Pose(gesture=gesture):
            return f"*{for_prompt(gesture).strip('*')}*"
    return f"> {for_prompt(act.text)}"


def _is_plain(speech: Speech, asker: Person | None) -> bool:
    """Whether words are spoken to everybody, or to who turned to the agent last."""
    to = speech.listener
    return asker is None or to is None or to.is_same(asker)


def _own_name(person: Person) -> str:
    return person.name


def excerpt(
    memories: Sequence[Memory],
    now: datetime,
    known_as: Callable[[Person], str] = _own_name,
    passages: Mapping[int, str] = {},
) -> str:
    """Return memories as one line: ``[18 November, evening, The Kettle] Jonas: "Elske." / …``.

    Where memories between them are left out, the line has ``/ … /``.

    Args:
        memories: One or more memories of one talk, oldest first.
        now: When the line is read.
        known_as: Returns the name by which the prompt calls a speaker.
        passages: What is shown of long memories, by number; of others the beginning is.
    """
    lines = []
    for place, memory in enumerate(memories):
        if place and memory.number > memories[place - 1].number + 1:
            lines.append("…")
        lines.append(excerpt_line(memory, known_as, passages.get(memory.number, "")))
    return f"{excerpt_heading(memories[0], now)} {' / '.join(lines)}"


def excerpt_heading(memory: Memory, now: datetime) -> str:
    """Return when and where the talk of an excerpt began: ``[18 November, evening, The Kettle]``.

    A talk of today has the clock's time in place of the evening, one of another year its year.
    """
    when = memory.time.astimezone()
    today = now.astimezone()
    year = "" if when.year == today.year else f" {when.year}"
    hour = f"{when:%H:%M}" if when.date() == today.date() else DAYTIMES[when.hour]
    place = f", {for_prompt(memory.place)}" if memory.place else ""
    return f"[{when.day} {when:%B}{year}, {hour}{place}]"


def excerpt_line(
    memory: Memory, known_as: Callable[[Person], str] = _own_name, passage: str = ""
) -> str:
    """Return ``Jonas: "Elske."``, ``you: "Good day!"``, or the line itself.

    ``passage``: What is shown of a long memory; empty for its beginning.
    """
    own = memory.kind is MemoryKind.ACT
    if passage:
        who = "you" if own else _speaker_of(memory, known_as)
        return f'{who}: "… {for_prompt(passage)} …"'
    if own:
        said = memory.said
        aloud = said is not None and said.manner is Manner.SAY
        line = f'"{for_prompt(said.words)}"' if said and aloud else own_line(memory)
        line = _hidden_whisper(memory) or f"you: {line}"
    elif (said := memory.heard) is None:
        line = for_prompt(memory.line)
    else:
        to = "" if said.is_to_me_or_all else f" (to {said.to_name})"
        how = " (whispering)" if is_private(memory) else ""
        line = f'{known_as(said.speaker)}{to}{how}: "{for_prompt(said.words)}"'
    return shorten(line, _LONGEST_OF_EXCERPT)


def _speaker_of(memory: Memory, known_as: Callable[[Person], str]) -> str:
    """Return who spoke or acted; ``there`` for what nobody did."""
    heard = memory.heard
    return known_as(heard.speaker) if heard is not None else memory.source or "there"


def _continues(memory: Memory, before: Memory, asker: Person | None) -> bool:
    """Whether two consecutive memories are the agent's plain words to the same person."""
    both = (before.said, memory.said)
    aloud = all(said is not None and said.manner is Manner.SAY for said in both)
    if memory.said is None or not aloud:
        return False
    return _is_plain(memory.said, asker) and memory.addressee == before.addressee


def dialogue_line(memory: Memory, name: str) -> str:
    """Format a memory for a dialogue: ``Tom: Hello.`` or ``(Tom leaves.)``; empty to omit it."""
    if memory.kind is MemoryKind.RESULT:
        return ""
    if memory.kind is MemoryKind.ACT:
        own = memory.said
        if memory.event == MessageType.SHRUG:
            return ""
        if own is not None:
            # Without its words a whisper would show the model that it may answer with nothing.
            return f"{name}: {for_prompt(own.words)}" if own.words else ""
        what = memory.what
        return f"({name} {for_prompt(what.gesture)})" if isinstance(what, Pose) else ""
    said = memory.heard
    if said is not None and said.words:
        return f"{said.speaker.name}: {for_prompt(said.words)}"
    return f"({for_prompt(memory.line)})"


def example_line(line: str, name: str) -> str:
    """Convert a script line, such as ``~Mira> say Good day! | kind``, to a dialogue line."""
    head, sign, command = line.partition("> ")
    now = datetime.min.replace(tzinfo=UTC)
    # A persona's author writes the examples as a script, which is the form of early archives.
    if sign and head.startswith("~"):
        kind = MemoryKind.ACT
        line = command.partition(" | ")[0]
    else:
        kind = MemoryKind.PERCEPTION
    return dialogue_line(Memory(0, now, what_of({"kind": kind, "text": line})), name)
