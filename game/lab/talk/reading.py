"""Reads sets of talks from YAML and refuses what cannot be played, with its line and the cure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from game.lab.talk.grading import compiled
from game.lab.talk.talk_set import (
    KINDS,
    PARTS,
    SAY,
    SMALL_TALK,
    TALK,
    UNKNOWN,
    WHISPER,
    Arrive,
    Compact,
    GradedQuestion,
    Leave,
    SpeakerLine,
    Step,
    TalkAgent,
    TalkRoom,
    TalkScene,
    TalkSet,
    Together,
    Wait,
)
from game.mind.errors import ConfigError, KeepsakeError

_LINE = "__line__"
_UNITS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0}
_LONGEST_DAYS = 30
_MOST_COMPACTIONS = 10
_TWO = 2
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day)s?")
_ASKED = ("right", "wrong", "not_own")
_FORMS = (
    "{speaker, say}, {speaker, whisper}, {speaker, aloud}, {speaker, ask, kind, right}, "
    "{together}, {compact}, {wait}, {arrive} or {leave}"
)


def read_talks(path: Path) -> tuple[TalkSet, ...]:
    """The sets of a file, or of every ``.yaml`` file of a folder.

    Raises:
        KeepsakeError: There is no such file.
        ConfigError: A file cannot be read or played; with line and reason.
    """
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        cure = "Name a .yaml file, or a folder of them"
        raise KeepsakeError(f"There are no talks in {path}", cure)
    return tuple(_TalkSetReader(file).read() for file in files)


class _Loader(yaml.SafeLoader):
    """Loads YAML; each table knows its line, and no key may stand in it twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """A table, with its line under a key of its own."""
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"{key!r} stands there twice", problem_mark=node.start_mark
                )
        table: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        table[_LINE] = node.start_mark.line + 1
        return table


class _TalkSetReader:
    """One file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._people: dict[str, TalkAgent] = {}
        self._speakers: tuple[str, ...] = ()
        self._filler: dict[str, tuple[str, ...]] = {}
        self._names: Iterator[str] = iter(())
        """Of the questions of a scene."""

    def read(self) -> TalkSet:
        """What it holds."""
        data = self._load()
        self._only(data, ("part", "places", "agents", "speakers", "filler", "talks"))
        part = data.get("part")
        if part not in PARTS:
            raise self._error(data, f"'part' is {part!r}", f"Write one of: {', '.join(PARTS)}")
        places = {key: self._place(key, raw) for key, raw in self._table(data, "places", {})}
        self._people = {
            name: self._person(name, raw, places) for name, raw in self._table(data, "agents")
        }
        self._speakers = tuple(self._texts(data, "speakers"))
        self._unique(data, [*self._speakers, *self._people], "speakers or agents are called")
        self._filler = {
            key: tuple(self._listed(data, key, raw)) for key, raw in self._table(data, "filler", {})
        }
        scenes = [self._scene(raw) for raw in self._list(data, "talks")]
        self._unique(data, [scene.id for scene in scenes], "talks are called")
        return TalkSet(part, places, self._people, self._speakers, tuple(scenes))

    def _load(self) -> dict[str, Any]:
        try:
            data = yaml.load(self._path.read_text(encoding="utf-8"), _Loader)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(self._path, 1, f"it cannot be read ({error})", "Mend it") from error
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise ConfigError(
                self._path, line, f"it is no YAML ({error.problem})", "Mind quotes and indentation"
            ) from error
        if not isinstance(data, dict):
            raise ConfigError(self._path, 1, "it must be a table", "See docs/talk.md")
        return data

    def _place(self, key: str, raw: Any) -> TalkRoom:
        self._only(raw, ("name", "desc"))
        return TalkRoom(key, self._text(raw, "name"), self._text(raw, "desc"))

    def _person(self, name: str, raw: Any, places: Mapping[str, TalkRoom]) -> TalkAgent:
        if isinstance(raw, dict) and "shipped" in raw:
            self._only(raw, ("shipped",))
            return TalkAgent(name, shipped=self._text(raw, "shipped"))
        self._only(raw, ("place", "profile", "examples", "ties"))
        place = self._text(raw, "place")
        if place not in places:
            raise self._error(
                raw, f"the place {place!r} does not exist", f"Use one of: {', '.join(places)}"
            )
        ties = {who: str(tie) for who, tie in self._table(raw, "ties", {})}
        examples = [str(each).strip() for each in raw.get("examples") or ()]
        return TalkAgent(name, place, self._text(raw, "profile"), tuple(examples), ties)

    def _scene(self, raw: Any) -> TalkScene:
        self._only(raw, ("scene", "agent", "steps"))
        scene, agent = self._text(raw, "scene"), self._known(raw, "agent", self._people)
        self._names = (f"{scene}/{n}" for n in count(1))
        return TalkScene(scene, agent, tuple(map(self._step, self._list(raw, "steps"))))

    def _step(self, raw: Any) -> Step:
        if not isinstance(raw, dict):
            raise ConfigError(self._path, 1, f"{raw!r} is no step", f"Write {_FORMS}")
        if "together" in raw:
            self._only(raw, ("together",))
            questions = tuple(map(self._question, self._list(raw, "together")))
            self._unique(raw, [each.speaker for each in questions], "questions are asked by")
            return Together(questions)
        if "ask" in raw:
            return self._question(raw)
        for key, how in (("say", TALK), ("aloud", SAY), ("whisper", WHISPER)):
            if key in raw:
                self._only(raw, ("speaker", key))
                return SpeakerLine(
                    self._known(raw, "speaker", self._speakers), self._text(raw, key), how
                )
        for key, make in (("arrive", Arrive), ("leave", Leave)):
            if key in raw:
                self._only(raw, (key,))
                return make(self._known(raw, key, self._speakers))
        if "wait" in raw:
            self._only(raw, ("wait",))
            return self._wait(raw)
        if "compact" in raw:
            self._only(raw, ("compact", "filler", "talked"))
            return self._compact(raw)
        raise self._error(raw, "the step is of no known form", f"Write {_FORMS}")

    def _question(self, raw: Any) -> GradedQuestion:
        self._only(raw, ("speaker", "ask", "kind", "sample", "how", *_ASKED))
        kind = self._known(raw, "kind", KINDS)
        patterns = {key: self._patterns(raw, key) for key in _ASKED}
        if not patterns["right"] and kind not in (SMALL_TALK, UNKNOWN):
            raise self._error(raw, f"the question {raw.get('ask')!r} has no 'right'", "Give it one")
        return GradedQuestion(
            next(self._names),
            self._known(raw, "speaker", self._speakers),
            self._text(raw, "ask"),
            kind,
            **patterns,
            sample=str(raw.get("sample") or ""),
            how=self._known(raw, "how", (TALK, SAY, WHISPER)) if "how" in raw else TALK,
        )

    def _patterns(self, raw: dict[str, Any], key: str) -> tuple[str, ...]:
        found = raw.get(key, [])
        texts = tuple(self._listed(raw, key, found if isinstance(found, list) else [found]))
        for text in texts:
            try:
                compiled(text)
            except re.error as error:
                raise self._error(
                    raw, f"{key!r} holds {text!r}, which is no pattern ({error})", "Mend it"
                ) from error
        return texts

    def _wait(self, raw: dict[str, Any]) -> Wait:
        match = _SPAN.fullmatch(str(raw["wait"]).strip())
        seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
        if not 0 < seconds <= _LONGEST_DAYS * _UNITS["day"]:
            cure = f"Write such as 20 minutes, 3 hours, 2 days; {_LONGEST_DAYS} days at most"
            raise self._error(raw, f"'wait' is {raw['wait']!r}", cure)
        return Wait(seconds)

    def _compact(self, raw: dict[str, Any]) -> Compact:
        times, talked = raw["compact"], raw.get("talked", 4)
        if not isinstance(times, int) or not 1 <= times <= _MOST_COMPACTIONS:
            raise self._error(raw, f"'compact' is {times!r}", f"Write 1 to {_MOST_COMPACTIONS}")
        if not isinstance(talked, int) or talked < 0:
            raise self._error(raw, f"'talked' is {talked!r}", "Write 0 or more")
        if len(self._speakers) < _TWO:
            raise self._error(raw, "filler is talk between two speakers", "Name a second speaker")
        return Compact(times, self._filler[self._known(raw, "filler", self._filler)], talked)

    # -- what tables hold

    def _error(self, raw: Any, reason: str, cure: str = "") -> ConfigError:
        line = raw.get(_LINE, 1) if isinstance(raw, dict) else 1
        return ConfigError(self._path, line, reason, cure)

    def _only(self, raw: Any, keys: Sequence[str]) -> None:
        if not isinstance(raw, dict):
            raise ConfigError(self._path, 1, f"{raw!r} is no table", f"It has {', '.join(keys)}")
        for key in raw:
            if key != _LINE and key not in keys:
                raise self._error(raw, f"{key!r} is unknown there", f"Use {', '.join(keys)}")

    def _text(self, raw: dict[str, Any], key: str) -> str:
        value = raw.get(key)
        if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
            raise self._error(raw, f"{key!r} is missing or empty", "Write a text there")
        return " ".join(str(value).split())

    def _known(
        self, raw: dict[str, Any], key: str, among: Mapping[str, Any] | Sequence[str]
    ) -> str:
        value = self._text(raw, key)
        if value not in among:
            raise self._error(
                raw, f"{key!r} is {value!r}, which is unknown", f"Use one of: {', '.join(among)}"
            )
        return value

    def _table(
        self, raw: dict[str, Any], key: str, default: dict[str, Any] | None = None
    ) -> list[tuple[str, Any]]:
        value = raw.get(key, default)
        if not isinstance(value, dict):
            raise self._error(raw, f"{key!r} must be a table", "See docs/talk.md")
        return [(str(name), each) for name, each in value.items() if name != _LINE]

    def _list(self, raw: dict[str, Any], key: str) -> list[Any]:
        value = raw.get(key)
        if not isinstance(value, list) or not value:
            raise self._error(raw, f"{key!r} must be a list with an entry", "See docs/talk.md")
        return value

    def _texts(self, raw: dict[str, Any], key: str) -> list[str]:
        return self._listed(raw, key, self._list(raw, key))

    def _listed(self, raw: dict[str, Any], key: str, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(each, str | int) for each in value):
            raise self._error(raw, f"{key!r} must be a list of texts", "Put quotes around each")
        return [str(each) for each in value]

    def _unique(self, raw: dict[str, Any], names: Sequence[str], what: str) -> None:
        for name in names:
            if names.count(name) > 1:
                raise self._error(raw, f"two {what} {name!r}", "Rename one")
