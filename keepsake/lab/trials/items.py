"""A value of a JSON file and where it stands, so that an error can say which item is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import moment

FORMATS_PAGE = "docs/evaluation.md has the formats"


class UnreadableBenchmark(KeepsakeError):
    """A file that is in none of the formats that are known, or an item of one that is wrong."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file."""

    value: Any
    where: str  # for errors: ``locomo10.json, sample 3, question 12``

    def get(self, name: str) -> Any:
        """A field; None where it is missing or the value is no object."""
        return self.value.get(name) if isinstance(self.value, dict) else None

    def text(self, name: str) -> str:
        """A field that must be a text; numbers are written out, as answers may be some.

        Raises:
            UnreadableBenchmark: It is missing or something else.
        """
        found = self.get(name)
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise self.wrong(f"has no text in its {name!r}")
        return str(found)

    def items(self, name: str, called: str) -> Iterator[Item]:
        """The values of a field that must be a list.

        Raises:
            UnreadableBenchmark: It is missing or something else.
        """
        found = self.get(name)
        if not isinstance(found, list):
            raise self.wrong(f"has no list in its {name!r}")
        for number, each in enumerate(found, 1):
            yield Item(each, f"{self.where}, {called} {number}")

    def wrong(self, what: str) -> UnreadableBenchmark:
        """An error about this value."""
        return UnreadableBenchmark(f"{self.where}: it {what}", f"Correct it; {FORMATS_PAGE}")


def when(text: str, before: datetime) -> datetime | None:
    """A date with its clock time as one of the benchmarks writes it; None if it is none."""
    day, _, rest = text.partition("(")  # 2023/05/20 (Sat) 02:21
    return moment(f"{day.rstrip()}{rest.partition(')')[2]}", before)
