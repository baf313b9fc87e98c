"""Dreams: a few memories put together as they never were.

A dream is a file of its own below ``vault/agents/<name>/dreams``, for people to read. It is
no memory, no note and no entry of a journal, and lies where neither recall nor the index
looks: an agent cannot take it for something that happened.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import telling
from keepsake.prompt.script import cursor
from keepsake.records import files as vault_files
from keepsake.sleep.asking import Ask
from keepsake.sleep.steps import Figures
from keepsake.summaries import draft_checks
from keepsake.summaries.retelling import is_noise, is_private, join, retell

FOLDER = "dreams"
FEWEST, MOST = 2, 4
"""Memories that one dream is made of."""
SAME_NIGHT = timedelta(hours=12)
"""Within this time of a dream there is no second one."""
_LONGEST_FRAGMENT, _LONGEST = 160, 700
_LEAST_SHARE = 0.4
_STOP = ("\n\n", "\n#", "\nFragments")
_SEAMS = (
    "Then, without any door between, it was {place}.",
    "All the while it was {place} as well.",
    "When I turned round it had become {place}.",
    "Somebody had carried {place} there, piece by piece.",
)
_JOINTS = ("Then", "And at once", "From far away", "The same voice went on:")
_TIME = re.compile(r"^time: '?(?P<time>[^'\n]+)'?$", re.M)
_DAY_FILE = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})(?:-(?P<number>\d{1,9}))?\.md")


def dream(  # noqa: PLR0917 - each of the six is another thing, and none can be left out
    memories: Sequence[Memory],
    own_name: str,
    ask: Ask,
    rng: random.Random,
    folder: Path,
    now: datetime,
) -> Figures:
    """Write down a dream, one a night; blocks.

    Raises:
        NightOver: The agent has woken.
        ModelError: There was no answer; nothing was written.
        NoteRefused: The file cannot be written.
    """
    ask.check()
    if _dreamt(folder / FOLDER, now):
        return {"dreams": 0}
    chosen = fragments(memories, own_name, rng)
    if len(chosen) < FEWEST:
        return {"dreams": 0, "fragments": len(chosen)}
    text = _by_model(chosen, own_name, ask) if ask.available else ""
    by = "a model" if text else "rules"
    path = vault_files.free_name(folder / FOLDER / f"{now.astimezone():%Y-%m-%d}.md")
    _write(path, text or by_rules(chosen, own_name, rng), chosen, own_name, now)
    numbers = ", ".join(str(memory.number) for memory in chosen)
    return {"dreams": 1, "memories": numbers, "written by": by, "file": path.name}


def fragments(memories: Sequence[Memory], own_name: str, rng: random.Random) -> list[Memory]:
    """A few memories to dream of, in the order in which they were lived.

    What matters little (greetings, looks, failures) and what is only a use of the agent's own
    memory is not among them; the newer ones come up more often.
    """
    fit = list(_different(each for each in memories if _telling(each, own_name)))
    if len(fit) <= FEWEST:
        return fit
    chosen: set[int] = set()
    wanted = rng.randint(FEWEST, min(MOST, len(fit)))
    while len(chosen) < wanted:
        # The greater of two: a slope from the oldest to the newest.
        chosen.add(max(rng.randrange(len(fit)), rng.randrange(len(fit))))
    return [fit[position] for position in sorted(chosen)]


def by_rules(chosen: Sequence[Memory], own_name: str, rng: random.Random) -> str:
    """The fragments as one scene, told by the agent, with seams that no day ever had."""
    told = [_told(memory, own_name) for memory in chosen]
    places = list(dict.fromkeys(memory.place for memory in chosen if memory.place))
    opening = f"I was in {for_prompt(places[0])}." if places else "I did not know where I was."
    parts = [opening, told[0]]
    for position, words in enumerate(told[1:], start=1):
        if position < len(places):
            parts.append(rng.choice(_SEAMS).format(place=for_prompt(places[position])))
        parts.append(f"{_JOINTS[position % len(_JOINTS)]}: {words}".replace("::", ":"))
    return shorten(" ".join(parts), _LONGEST)


def _by_model(chosen: Sequence[Memory], own_name: str, ask: Ask) -> str:
    """What a model makes of the fragments; empty if that is no dream of them."""
    told = [_told(memory, own_name) for memory in chosen]
    listed = "\n".join(f"* {words}" for words in told)
    prompt = (
        f"Fragments of what {own_name} lived through:\n\n{listed}\n\n"
        f"In the night these run together in a dream, as dreams do. {own_name} tells the dream "
        f"in three short sentences, beginning with I:\n\n"
    )
    text = shorten(for_prompt(draft_checks.clean(ask(prompt, _STOP))), _LONGEST)
    return text if _is_dream_of(text, told) else ""


def _is_dream_of(text: str, told: Sequence[str]) -> bool:
    """Whether it tells of two fragments at least, and not mostly of something else."""
    if draft_checks.check(text, [*told, " " * _LONGEST]) is not None:
        return False
    said = telling(text)
    from_each = [said & telling(words) for words in told]
    grounded = set().union(*from_each)
    return sum(bool(each) for each in from_each) >= FEWEST and (
        len(grounded) >= _LEAST_SHARE * len(said)
    )


def _telling(memory: Memory, own_name: str) -> bool:
    line = _line(memory, own_name)
    if (
        memory.kind is MemoryKind.RESULT
        or memory.is_stock
        or is_private(line)
        or is_noise(memory.text)
    ):
        return False
    return len(telling(_told(memory, own_name))) >= 3


def _told(memory: Memory, own_name: str) -> str:
    return shorten(join(retell(_line(memory, own_name), own_name)), _LONGEST_FRAGMENT)


def _line(memory: Memory, own_name: str) -> str:
    act = memory.kind is MemoryKind.ACT
    return f"{cursor(own_name)} {for_prompt(memory.text)}" if act else for_prompt(memory.told)


def _different(memories: Iterable[Memory]) -> Iterator[Memory]:
    """Each text once: who says a thing a hundred times is not dreamt of a hundred times."""
    seen: set[str] = set()
    for memory in memories:
        if (words := memory.text.casefold()) not in seen:
            seen.add(words)
            yield memory


def _dreamt(folder: Path, now: datetime) -> bool:
    """Whether a dream of this night is there already.

    By the time that stands in the newest: a file's own time changes when it is copied or
    touched, and two nights may begin on one day.
    """
    try:
        newest = max(_day_files(folder))[1]
        written = _TIME.search(newest.read_text(encoding="utf-8"))
        if written is not None:
            return now - datetime.fromisoformat(written["time"]) < SAME_NIGHT
    except (OSError, TypeError, ValueError):
        return False
    # Somebody has changed it: then its day counts.
    return newest.stem[:10] >= f"{now.astimezone():%Y-%m-%d}"


def _day_files(folder: Path) -> Iterator[tuple[tuple[str, int], Path]]:
    """The dreams that are there, with what they are sorted by: day, and which of that day."""
    for each in folder.iterdir():
        if match := _DAY_FILE.fullmatch(each.name):
            yield (match["day"], int(match["number"] or 1)), each


def _write(path: Path, text: str, chosen: Sequence[Memory], own_name: str, now: datetime) -> None:
    numbers = [memory.number for memory in chosen]
    head = yaml.safe_dump(
        {"dream": True, "agent": own_name, "time": now.isoformat(), "memories": numbers},
        sort_keys=False,
        allow_unicode=True,
    )
    listed = ", ".join(map(str, numbers))
    source = (
        f"---\n{head}---\n\n_A dream: nothing of it happened. It was put together from the "
        f"memories {listed}._\n\n{text}\n"
    )
    # Where somebody was quicker, that one stands.
    vault_files.change(path, lambda before: source if before is None else before)
