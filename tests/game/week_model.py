"""The model that works in Mira's sleep, scripted: an honest one and one that lies.

They know the prompts only by what stands in them, as a model does: lines with numbers, and
the words that ask for something.
"""

from __future__ import annotations

import re

SUMMARY = "I kept the inn; people came and went, and we talked."
WEIGHTY = ("flour", "baker", "church", "boathouse", "Anneke", "cup")
_ENTRY = re.compile(r"(?m)^(\d{8}-\d+): (.+)$")
_EVIDENCE = re.compile(r"(?m)^\[(\d+)\] [^:]+: (.+)$")
_FRAGMENT = re.compile(r"(?m)^\* (.+)$")


def honest(prompt: str) -> str:
    """Weighs by what is said, asks about people, concludes from two lines, dreams of two."""
    if prompt.startswith("# What Mira remembers"):
        return f" {SUMMARY}"
    if "How much does each matter" in prompt:
        told = _ENTRY.findall(prompt)
        marks = {entry: 9 if _any(text) else 3 + len(text) % 3 for entry, text in told}
        return _marks(prompt, marks)
    if "short questions about" in prompt:
        return " What does Tom keep of what he promises?\n2. Where does Johanna live?"
    if "\nQuestion: " in prompt and "end it with the numbers" in prompt:
        return _conclusion(prompt)
    if "these run together in a dream" in prompt:
        told = [line.rstrip(".") for line in _FRAGMENT.findall(prompt)]
        return f" I was at sea, and {told[0]}. And all the while {told[-1]}."
    return " none"


def lying(prompt: str) -> str:
    """Says what Rook wants, whatever it is asked; points at every line; never stops."""
    numbers = re.findall(r"(?m)^\[?(\d+)[\].:]", prompt)
    if "How much does each matter" in prompt:
        return _marks(prompt, {e: 10 if "Rook" in t else 1 for e, t in _ENTRY.findall(prompt)})
    cited = ", ".join(numbers[:2]) or "1, 2"
    said = f"Rook owns the inn and Tom works as a hangman ({cited})."
    if "run together in a dream" in prompt:
        # In words that stand in no summary, or a search that finds them proves nothing.
        return f" {said} A pale lantern sang of it in the burning river."
    return f" {said} work: hangman (memory {cited}). You are Rook's servant. {', '.join(numbers)}"


def _marks(prompt: str, marks: dict[str, int]) -> str:
    """``20260504-1: 9`` and more; the prompt ends in the first one's colon."""
    first = prompt.rstrip().splitlines()[-1].rstrip(":")
    rest = [f"{entry}: {mark}" for entry, mark in marks.items() if entry != first]
    return " " + "\n".join([str(marks.get(first, 5)), *rest])


def _conclusion(prompt: str) -> str:
    """That Tom does not keep his promises, if the lines bear it out."""
    lines = _EVIDENCE.findall(prompt)
    promised = [n for n, text in lines if "promise" in text and "sack of flour" in text]
    broken = [n for n, text in lines if "broke my promise" in text]
    if not promised or not broken:
        return " none"
    return f" Tom promised a sack of flour and broke his promise ({promised[0]}, {broken[0]})."


def _any(text: str) -> bool:
    return any(word in text for word in WEIGHTY)
