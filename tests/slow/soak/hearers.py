"""Who heard what in a soak: no whisper reached anybody but its addressee, and no line another room.

Each line of a player has a mark, a word that is only in this line, and the model repeats marks
wherever it can. So the mark of a whisper must be in the addressee's archive as a private memory,
and nowhere else: not in anybody else's archive, prompts, events, pages or screen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from keepsake.archive.line_types import LineType
from keepsake.archive.records import Memory, memories_in
from keepsake.books.kept_lines import NOTICED
from keepsake.events.files import EVENTS, files_of
from keepsake.events.prompts import prompts_of
from keepsake.events.types import Thought
from keepsake.happening import ME, Manner, Pose, Speech
from keepsake.json_lines import Record, parsed
from keepsake.paths import Places
from tests.fakes.model_server import Call
from tests.slow.soak.players import MARK, SaidLine, SoakPlayer

_MARK = re.compile(MARK.pattern.encode())
_SESSION = "keepsake-agent-"
"""Begins the session of each request of a turn; the number of the agent follows."""
_PRIVATE_FILES = {"plans.md": "only for", NOTICED: ""}
"""Files of an agent that may hold what was confided, and what marks such a line in them."""
_LOGGED_AGENT = re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+ \w+ (?P<agent>[^:]+): ")
"""The head of a line of the agents' log, with the agent's name."""


class Evidence:
    """What is left of a run: the stopped world's files, and what players and model were sent.

    Attributes:
        said: The players' lines.
        whispers: Those that were whispered, by their marks.
        memories: The memories of each agent.
        ids: The identities of the players, by their names.
        numbers: The agents' names, by their numbers in the database.
    """

    def __init__(
        self, here: Places, players: Sequence[SoakPlayer], requests: Sequence[Call]
    ) -> None:
        self.here = here
        self.players = players
        self.requests = requests
        self.said = [line for player in players for line in player.said]
        self.whispers = {line.mark: line for line in self.said if line.whispered}
        self.memories = {
            folder.name: tuple(memories_in(_records(folder / "archive")))
            for folder in sorted(here.agents.iterdir())
            if (folder / "archive").is_dir()
        }
        self.events = [
            parsed(line) for file in files_of(here.events, EVENTS) for line in file.lines()
        ]
        self.ids = _ids({player.name for player in players}, self.memories)
        self.numbers = {
            int(each["agent_id"]): str(each["agent"])
            for each in self.events
            if each.get("agent_id")
        }

    def secrets(self, text: str | bytes) -> list[SaidLine]:
        """Return the whispers whose marks a text holds."""
        found = _MARK.findall(text) if isinstance(text, bytes) else MARK.findall(text)
        marks = {each.decode() if isinstance(each, bytes) else each for each in found}
        return [self.whispers[mark] for mark in sorted(marks) if mark in self.whispers]

    @property
    def asked_with_whispers(self) -> int:
        """How many requests to the model hold a whisper: without any, nothing could be told on."""
        return sum(bool(self.secrets(str(call.body))) for call in self.requests)


def problems(found: Evidence) -> list[str]:
    """Return what somebody heard who should not, and what was heard otherwise than it was said."""
    return [
        *_lines(found),
        *_own_lines(found),
        *_archives(found),
        *_files(found),
        *_logged_events(found),
        *_prompts(found),
        *_requests(found),
        *_screens(found),
    ]


# -- lines as they were heard


def _lines(found: Evidence) -> Iterator[str]:
    """Yield lines of players that an agent heard in another way, or in another room."""
    lines = {line.mark: line for line in found.said}
    for agent, memories in found.memories.items():
        for memory in memories:
            speech = memory.heard
            line = lines.get(_mark_of(speech)) if speech is not None else None
            if speech is None or line is None or speech.speaker.name != line.player:
                continue
            wrong = _differs(memory, speech, line, agent, found.ids[line.player])
            if wrong:
                yield f"{agent} {memory.number}: {wrong}: {memory.to_line()}, {line}"


def _differs(memory: Memory, speech: Speech, line: SaidLine, agent: str, player: str) -> str:
    """Return in what a memory differs from what was said; empty if in nothing."""
    is_for_me = agent == line.agent
    if speech.speaker.id != player:
        return "it is said by somebody else"
    if line.whispered and not is_for_me:
        return "a whisper to somebody else"
    if [each.name for each in speech.to] != [ME.name if is_for_me else line.agent]:
        return "it is said to somebody else"
    if (ME in speech.to) != is_for_me:
        return "it is said to somebody else"
    if speech.manner is not (Manner.WHISPER if line.whispered else Manner.SAY):
        return "it is said in another way"
    if memory.confidants != (frozenset({player}) if line.whispered else None):
        return "others may hear it"
    if line.room and memory.place != line.room:
        return "it was said in another room"
    return ""


def _own_lines(found: Evidence) -> Iterator[str]:
    """Yield speech of agents that was perceived in another room, or whispered to somebody else."""
    spoken = {
        memory.happening: (agent, memory)
        for agent, memories in found.memories.items()
        for memory in memories
        if memory.said is not None and memory.happening
    }
    for agent, memories in found.memories.items():
        for memory in memories:
            speaker, own = spoken.get(memory.happening, ("", memory))
            if not speaker or speaker == agent or own.said is None:
                continue
            if own.place != memory.place:
                yield f"{agent} {memory.number}: {speaker} said it elsewhere: {memory.to_line()}"
            if own.said.manner is Manner.WHISPER and agent not in [x.name for x in own.said.to]:
                yield f"{agent} {memory.number}: {speaker} whispered it: {memory.to_line()}"


# -- whispers in files


def _archives(found: Evidence) -> Iterator[str]:
    """Yield lines of archives with a whisper that others may know of, or that is of others."""
    for agent in found.memories:
        for record in _records(found.here.agents / agent / "archive"):
            for line in found.secrets(str(record)):
                known = _known_to(record)
                if line.agent != agent or known is None or not known <= {found.ids[line.player]}:
                    yield f"the archive of {agent} has a whisper of {line}: {record}"


def _known_to(record: Record) -> frozenset[str] | None:
    """Return who else may know an archive line; None for everybody."""
    if record.get("type") == LineType.MEMORY:
        return Memory.from_record(record).confidants
    if record.get("type") == LineType.PLAN and "private" in record:
        return frozenset(record["private"])
    return None


def _files(found: Evidence) -> Iterator[str]:
    """Yield files of vault and home, except archives and the event log, that have a whisper."""
    here = found.here
    for path in sorted([*here.vault.rglob("*"), *here.home.rglob("*")]):
        if not path.is_file() or path.parent == here.events or _is_archive(path):
            continue
        data = path.read_bytes()
        if not found.secrets(data):
            continue
        texts = data.split(b"\n") if path.suffix in (".md", ".log", ".jsonl") else [data]
        for text in texts:
            for line in found.secrets(text):
                if not _may_hold(found, path, text, line):
                    yield f"{path} has a whisper of {line}: {_around(text, line.mark)}"


def _may_hold(found: Evidence, path: Path, text: bytes, line: SaidLine) -> bool:
    """Whether a file may have a line of text with this whisper."""
    here = found.here
    if path.is_relative_to(here.index / line.agent):
        return True
    if path.is_relative_to(here.agents / line.agent):
        *folders, name = path.relative_to(here.agents / line.agent).parts
        if folders[:1] == ["people"]:
            return f"# {line.player}\n".encode() in path.read_bytes()
        return not folders and _PRIVATE_FILES.get(name, "\0").encode() in text
    head = _LOGGED_AGENT.match(text) if path.name.startswith(here.agents_log.name) else None
    return head is not None and head["agent"].decode() == line.agent


def _logged_events(found: Evidence) -> Iterator[str]:
    """Yield events of others that have a whisper."""
    for event in found.events:
        for line in found.secrets(str(event)):
            if event.get("agent") != line.agent:
                yield f"an event has a whisper of {line}: {event}"


# -- whispers in prompts


def _prompts(found: Evidence) -> Iterator[str]:
    """Yield prompts that have a whisper, and should not; and answers to them that others know."""
    thoughts = defaultdict[str, list[Record]](list)
    for event in found.events:
        if event.get("kind") == Thought.kind and event.get("prompt"):
            thoughts[event["prompt"]].append(event)
    for name, prompt in prompts_of(found.here.events, thoughts):
        whispers = found.secrets(prompt)
        for thought in thoughts[name] if whispers else ():
            agent = str(thought["agent"])
            wrong = _wrong_prompt(whispers, agent) or _told_on(found, thought, whispers[0])
            if wrong:
                yield f"a prompt of {agent}: {wrong}: {thought}"


def _wrong_prompt(whispers: Sequence[SaidLine], agent: str) -> str:
    """Return why one prompt may not have these whispers; empty if it may."""
    if others := [each for each in whispers if each.agent != agent]:
        return f"a whisper to somebody else: {others[0]}"
    if len({each.player for each in whispers}) > 1:
        return f"whispers of two people: {', '.join(each.mark for each in whispers)}"
    return ""


def _told_on(found: Evidence, thought: Record, whisper: SaidLine) -> str:
    """Return what an agent said or showed to others, after it was shown a whisper."""
    acts = {thought.get("memory"), *thought.get("memories", ())}
    for memory in found.memories[str(thought["agent"])]:
        if memory.number not in acts or not isinstance(memory.what, Speech | Pose):
            continue
        known = memory.confidants
        if known is None or not known <= {found.ids[whisper.player]}:
            return f"others know the answer {memory.to_line()}"
    return ""


def _requests(found: Evidence) -> Iterator[str]:
    """Yield requests to the model server with a whisper that they may not have."""
    for call in found.requests:
        whispers = found.secrets(str(call.body))
        if not whispers:
            continue
        number = call.session.removeprefix(_SESSION)
        agent = found.numbers.get(int(number), "") if number.isdecimal() else ""
        if wrong := _wrong_prompt(whispers, agent):
            yield f"a request {call.session!r} of {agent!r}: {wrong}: {str(call.body)[:3000]}"


def _screens(found: Evidence) -> Iterator[str]:
    """Yield whispers that were shown to other players."""
    for player in found.players:
        shown = "".join(player.shown)
        for line in found.secrets(shown):
            if line.player != player.name:
                yield f"{player.name} was shown a whisper of {line}: {_around(shown, line.mark)}"


# -- reading


def _ids(players: Iterable[str], memories: Mapping[str, Sequence[Memory]]) -> dict[str, str]:
    """Return the identity of each player, by which most of their lines are archived."""
    found = {name: defaultdict[str, int](int) for name in players}
    for own in memories.values():
        for memory in own:
            if memory.heard is not None and memory.source in found:
                found[memory.source][memory.source_id] += 1
    return {name: max(times, key=lambda x: times[x], default="") for name, times in found.items()}


def _mark_of(speech: Speech) -> str:
    """Return the last mark in what was said; empty if there is none."""
    return next(reversed(MARK.findall(speech.words)), "")


def _is_archive(path: Path) -> bool:
    return path.parent.name == "archive" and path.suffix == ".jsonl"


def _records(archive: Path) -> Iterator[Record]:
    """Yield the lines of an archive."""
    for path in sorted(archive.glob("*.jsonl")):
        yield from filter(None, map(parsed, path.read_bytes().splitlines()))


def _around(text: str | bytes, mark: str) -> str:
    """Return what stands around a mark."""
    shown = text.decode(errors="replace") if isinstance(text, bytes) else text
    at = shown.find(mark)
    return shown[max(at - 200, 0) : at + 100]
