"""A profile as a markdown page: front matter, and a list under each heading.

Every list entry is one line whose own words stand between marks that only the game sets, so
that nothing anybody said can pass for a heading, an entry or a date. What a person writes by
hand stays: entries without those marks are read as far as they go, other lines and sections
are kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from keepsake.books.journal.entries import EntryOrigin
from keepsake.books.profiles.changes import by_time
from keepsake.books.profiles.profile import (
    Company,
    Conclusion,
    Fact,
    Name,
    Observation,
    Profile,
    ProfileKind,
)
from keepsake.errors import NoteRefused
from keepsake.language.fit import line
from keepsake.language.fit import name as fit_name
from keepsake.records.files import FRONT, time_of

FACTS, BEFORE, THOUGHTS = "Facts", "Before", "What I think"
SHARED, OBSERVED = "Last shared", "Observations"
_SECTIONS = (FACTS, BEFORE, THOUGHTS, SHARED, OBSERVED)
_OF_SIGHT = (SHARED, OBSERVED)

_HEADING = re.compile(r"##\s+(?P<name>\S.*?)\s*#*$")
_FACT = re.compile(
    r"[-*] (?P<attribute>[^:()]{1,40}): (?P<value>.*?)(?: \((?P<how>since [^()]*)\))?$"
)
_THOUGHT = re.compile(
    r"[-*] (?P<text>.*?)(?: \(memor(?:y"
    r"|ies) (?P<numbers>\d[\d, ]*); (?P<time>[\dT:.+-]{10,40})\))?$"
)
_SEEN = re.compile(
    r"[-*] (?P<time>[\dT:.+-]{10,40}), memory (?P<number>\d{1,9}), importance (?P<weight>\d{1,2}):"
    r" (?P<text>.*)$"
)
_NUMBER = re.compile(r"\d{1,9}")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class Page:
    """A file: the profile, and what a person wrote around it."""

    profile: Profile
    # other lines, by the heading that they stand under; empty for above the first
    by_hand: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def parse_page(path: Path, source: str, changed: datetime) -> Page:
    """The page that ``source`` holds.

    Raises:
        NoteRefused: Its front matter cannot be read, or does not say whose it is.
    """
    try:
        front = FRONT.match(source)
        meta = yaml.load(front["head"], _LOADER) if front else None
        if front is None or not isinstance(meta, dict):
            raise _malformed(path, "does not begin with front matter")
        sections = _sections(source[front.end() :])
        return _page(meta, sections, changed)
    except (yaml.YAMLError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise _malformed(path, f"cannot be read ({' '.join(str(error).split())[:200]})") from error


def written(page: Page) -> str:
    """The page as a file."""
    return _with_head(_meta(page.profile), _body(page))


def rewritten(page: Page, before: Profile | None, now: datetime) -> tuple[str, Page]:
    """The page as a file that is written now, and what :func:`parse_page` would read there.

    To read all of it costs as much as to write it. So its front matter is not parsed, and no
    observation that ``before``, as it was read last, has too.
    """
    meta, body = _meta(page.profile), _body(page)
    known = {_seen_line(each): each for each in before.observations} if before else {}
    return _with_head(meta, body), _page(meta, _sections(f"\n{body}"), now, known)


def _with_head(meta: Mapping[str, Any], body: str) -> str:
    head = yaml.dump(meta, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n{body}"


def _body(page: Page) -> str:
    profile, by_hand = page.profile, dict(page.by_hand)
    lists = {
        FACTS: [_fact_line(fact) for fact in profile.facts if fact.holds],
        BEFORE: [_fact_line(fact) for fact in profile.facts if not fact.holds],
        THOUGHTS: [_thought_line(each) for each in profile.conclusions],
        SHARED: [_seen_line(profile.shared)] if profile.shared else [],
        OBSERVED: [_seen_line(each) for each in profile.observations],
    }
    parts = [f"# {profile.name}\n", *_block(by_hand.pop("", ()))]
    for name in (*lists, *(each for each in by_hand if each not in lists)):
        lines = (*by_hand.get(name, ()), *lists.get(name, ()))
        if lines:
            parts += [f"## {name}\n", *_block(lines)]
    return "\n".join(parts)


def _block(lines: Iterable[str]) -> list[str]:
    text = "\n".join(lines).strip("\n")
    return [f"{text}\n"] if text else []


# -- reading


def _sections(body: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for each in body.splitlines():
        if heading := _HEADING.match(each):
            name = heading["name"]
            sections.setdefault(name, [])
        elif each.strip() or name not in _SECTIONS:
            sections[name].append(each.rstrip())
    return sections


def _page(
    meta: Mapping[str, Any],
    sections: Mapping[str, list[str]],
    changed: datetime,
    known: Mapping[str, Observation] = MappingProxyType({}),
) -> Page:
    """``known``: Observations that need not be read from their lines."""
    read: dict[str, list[Any]] = {name: [] for name in _SECTIONS}
    by_hand: dict[str, tuple[str, ...]] = {}
    for name, lines in sections.items():
        rest = []
        for each in lines:
            text = each.strip()
            seen = known.get(text) if name in _OF_SIGHT else None
            if (entry := seen or _entry(name, text, changed)) is not None:
                read[name].append(entry)
            elif name or not each.startswith("# "):
                rest.append(each)
        if any(rest):
            by_hand[name] = tuple(rest)
    return Page(_profile(meta, read, changed), by_hand)


def _profile(meta: Mapping[str, Any], read: Mapping[str, list[Any]], changed: datetime) -> Profile:
    key = str(meta.get("key") or "").strip()
    names = tuple(_names(meta.get("names"), changed))
    if not key or not names:
        raise ValueError("it needs a key and names")
    return Profile(
        key=key,
        kind=ProfileKind(str(meta.get("kind", "person"))),
        names=names,
        first_met=time_of(meta.get("first_met"), names[0].since),
        last_met=time_of(meta.get("last_met"), names[-1].since),
        before=time_of(meta["before"], None) if meta.get("before") else None,
        meetings=max(int(meta.get("meetings", 1)), 1),
        exchanges=max(int(meta.get("exchanges", 0)), 0),
        warmth=min(max(float(meta.get("warmth", 0.0)), -1.0), 1.0),
        warmed=min(max(float(meta.get("warmed", 0.0)), -1.0), 1.0),
        facts=by_time((*read[FACTS], *read[BEFORE])),
        observations=tuple(sorted(read[OBSERVED], key=lambda seen: seen.number)),
        conclusions=tuple(read[THOUGHTS]),
        shared=read[SHARED][-1] if read[SHARED] else None,
        through=max(int(meta.get("through", 0)), 0),
        studied=max(int(meta.get("studied", 0)), 0),
        formerly=tuple(str(each) for each in meta.get("formerly") or ()),
        company=tuple(map(_company, meta.get("company") or ())),
    )


def _company(given: Mapping[str, Any]) -> Company:
    return Company(
        key=str(given["who"]),
        meetings=max(int(given["meetings"]), 1),
        days=max(int(given["days"]), 1),
        last=time_of(given["last"], None),
        numbers=tuple(sorted({int(number) for number in given["memories"]})),
    )


def _names(given: Any, changed: datetime) -> Iterable[Name]:
    for each in given if isinstance(given, list) else [given]:
        name, since = (each.get("name"), each.get("since")) if isinstance(each, dict) else (each, 0)
        if name not in (None, ""):
            yield Name(fit_name(str(name)), time_of(since or None, changed))


def _entry(section: str, text: str, changed: datetime) -> Fact | Conclusion | Observation | None:
    """One entry of a list; None for what is no entry of it."""
    try:
        if section in (FACTS, BEFORE):
            return _fact(text, changed, over=section == BEFORE)
        if section == THOUGHTS:
            return _thought(text, changed)
        return _seen(text) if section in _OF_SIGHT else None
    except ValueError:
        return None


def _fact(text: str, changed: datetime, *, over: bool) -> Fact | None:
    match = _FACT.match(text)
    if match is None or not match["value"].strip():
        return None
    parts = (match["how"] or "").split("; ")
    known = {what: rest for what, _, rest in (part.partition(" ") for part in parts)}
    until = time_of(known.get("until"), changed)
    return Fact(
        attribute=match["attribute"].strip().casefold(),
        value=line(match["value"], 200),
        since=time_of(known.get("since"), changed),
        until=until if over else None,
        numbers=_numbers(known.get("memories", known.get("memory", ""))),
        told_by=fit_name(known["by"]) if "by" in known else "",
        origin=next((each for each in EntryOrigin if each in parts), EntryOrigin.SEEN),
    )


def _thought(text: str, changed: datetime) -> Conclusion | None:
    match = _THOUGHT.match(text)
    if match is None or not match["text"].strip():
        return None
    time = time_of(match["time"], changed)
    return Conclusion(line(match["text"], 400), _numbers(match["numbers"] or ""), time)


def _seen(text: str) -> Observation | None:
    match = _SEEN.match(text)
    if match is None:
        return None
    weight = min(max(int(match["weight"]), 1), 10)
    return Observation(
        int(match["number"]), time_of(match["time"], None), line(match["text"], 400), weight
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(number) for number in _NUMBER.findall(text)}))


def _malformed(path: Path, reason: str) -> NoteRefused:
    return NoteRefused(
        f"The profile {path} {reason}",
        "Mend the lines between its `---`, or move the file away and a new one is begun",
    )


# -- writing


def _meta(profile: Profile) -> dict[str, Any]:
    return {
        "key": profile.key,
        "kind": profile.kind.value,
        "names": [{"name": n.name, "since": n.since.isoformat()} for n in profile.names],
        "first_met": profile.first_met.isoformat(),
        "last_met": profile.last_met.isoformat(),
        "before": profile.before.isoformat() if profile.before else None,
        "meetings": profile.meetings,
        "exchanges": profile.exchanges,
        "warmth": profile.warmth,
        "warmed": profile.warmed,
        "through": profile.through,
        "studied": profile.studied,
        **({"formerly": list(profile.formerly)} if profile.formerly else {}),
        **({"company": [_met_there(each) for each in profile.company]} if profile.company else {}),
    }


def _met_there(each: Company) -> dict[str, Any]:
    return {
        "who": each.key,
        "meetings": each.meetings,
        "days": each.days,
        "last": each.last.isoformat(),
        "memories": list(each.numbers),
    }


def _fact_line(fact: Fact) -> str:
    how = [f"since {fact.since.isoformat()}"]
    how += [f"until {fact.until.isoformat()}"] if fact.until else []
    how.append(fact.origin.value)
    how += [f"by {fit_name(fact.told_by)}"] if fact.told_by else []
    how += [_cited(fact.numbers)] if fact.numbers else []
    return f"- {fact.attribute}: {fact.value} ({'; '.join(how)})"


def _thought_line(thought: Conclusion) -> str:
    if not thought.numbers:
        return f"- {thought.text}"
    return f"- {thought.text} ({_cited(thought.numbers)}; {thought.time.isoformat()})"


def _seen_line(seen: Observation) -> str:
    return f"- {seen.time.isoformat()}, memory {seen.number}, importance {seen.weight}: {seen.text}"


def _cited(numbers: tuple[int, ...]) -> str:
    head = "memory" if len(numbers) == 1 else "memories"
    return f"{head} {', '.join(map(str, numbers))}"
