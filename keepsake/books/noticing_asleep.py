"""What the cheap rules miss: a model reads the day again while the agent sleeps.

"Whoever asks has not heard it from us" is a rule, and "leave it with me" is a promise, but
no pattern says so. The model only points: it answers with the numbers of lines. What is
kept are the line's own words under its own speaker's name, so that no model can invent a
rule and no player can dictate one under another's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from keepsake.archive.records import Memory
from keepsake.books.noticing import Noticed, NoticedKind, notice, quoted
from keepsake.language.heard import heard, meant_for, own_words
from keepsake.language.perception import for_prompt, shorten

MOST_LINES = 40
"""Lines that a model is shown at once: the newest."""
MOST_FOUND = 3
"""Of each kind that it may point at in one night: whoever points at all has understood nothing."""
_LONGEST = 200
_STOP = ("\n\n", "\nQuestion", "\n#")

_ASKED = (
    "Question: Which of these lines tell {name} a rule to keep to from now on? In which does "
    "{name} promise something? Answer with the numbers of the lines alone, or none.\nRules:"
)
_ANSWER = re.compile(
    r"^(?P<rules>[^A-Za-z]*(?:none\b[^A-Za-z]*)?)(?:promises?\b(?P<promises>.*))?", re.I | re.S
)
_NUMBER = re.compile(r"\d{1,9}")


def reread(
    memories: Iterable[Memory],
    own_name: str,
    ask: Callable[[str, tuple[str, ...]], str],
) -> tuple[Noticed, ...]:
    """Rules and promises that a model finds in what was said; blocks, so in a worker thread.

    Raises:
        ModelError: What ``ask`` raises.
    """
    lines = worth_rereading(memories, own_name)
    if not lines:
        return ()
    return pointed_at(ask(question(lines, own_name), _STOP), lines, own_name)


def worth_rereading(memories: Iterable[Memory], own_name: str) -> tuple[Memory, ...]:
    """What was said to the agent and by it, less what the rules have noticed by themselves."""
    said = [memory for memory in memories if _spoken(memory, own_name)]
    known = (NoticedKind.RULE, NoticedKind.PROMISE)
    missed = [m for m in said if not any(n.kind in known for n in notice(m, own_name))]
    return tuple(missed[-MOST_LINES:])


def question(lines: Sequence[Memory], own_name: str) -> str:
    """The prompt: numbered lines, what is asked of them, and where the answer begins."""
    told = "\n".join(f"{m.number}. {_spoken(m, own_name)}" for m in lines)
    return f"What {own_name} heard and said:\n\n{told}\n\n{_ASKED.format(name=own_name)}"


def pointed_at(answer: str, lines: Sequence[Memory], own_name: str) -> tuple[Noticed, ...]:
    """What an answer points at, in the words of the memories themselves.

    An answer that points at too much, or at what there is not, points at nothing.
    """
    parts = _ANSWER.match(answer.strip())
    if parts is None:
        return ()
    by_number = {memory.number: memory for memory in lines}
    found: list[Noticed] = []
    for kind, part in (
        (NoticedKind.RULE, parts["rules"]),
        (NoticedKind.PROMISE, parts["promises"] or ""),
    ):
        numbers = {int(number) for number in _NUMBER.findall(part)}
        if len(numbers) <= MOST_FOUND and numbers <= by_number.keys():
            each = (quoted(by_number[number], kind, own_name) for number in sorted(numbers))
            found += [item for item in each if item is not None]
    return tuple(found)


def _spoken(memory: Memory, own_name: str) -> str:
    """``Tom: Good day.``; empty for what was not said to the agent or by it."""
    if own := own_words(memory):
        who, words = own_name, own.words
    elif (said := heard(memory)) is not None and meant_for(said, own_name):
        who, words = said.who, said.words
    else:
        return ""
    return f"{for_prompt(who)}: {shorten(for_prompt(words), _LONGEST)}"
