"""A data file with the text it came from, so that a refusal can name the line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import frontmatter
import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from keepsake.errors import ConfigError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C, where PyYAML has it: a world's files take 0.3 s in Python."""

type Refuse = Callable[[str, str, str], ConfigError]
"""Makes a refusal of where it is, what is wrong and the cure, as :meth:`DataFile.error`."""


def flag(refuse: Refuse, field: str, raw: Any) -> bool:
    """The field, if it is true or false."""
    if not isinstance(raw, bool):
        raise refuse(f"{field}:", f"{field!r} is {raw!r}", "Use true or false")
    return raw


def number(refuse: Refuse, field: str, raw: Any, least: float, most: float) -> float:
    """The field, if it is a number within these bounds; a whole one stays one."""
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    if not is_number or not least <= raw <= most:
        cure = f"Use a number from {least:g} to {most:g}"
        raise refuse(f"{field}:", f"{field!r} is {raw!r}", cure)
    return float(raw) if isinstance(raw, float) else int(raw)


def refused(reason: str, cure: str = "", near: str = "") -> PydanticCustomError:
    """What a validator raises: why, the cure, and words of the line that is wrong."""
    return PydanticCustomError("world", "{reason}", {"reason": reason, "cure": cure, "near": near})


class DataFile:
    """One YAML mapping with the text it came from, to find lines for errors.

    Attributes:
        section: The entry that is read now: lines are first looked for under it.
        body: What stands under the mapping, where that is the front matter of a page.

    Raises:
        ConfigError: It is missing, closed to us, no UTF-8 text, or no mapping in YAML.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.section, self.body = path, "", ""
        try:
            self.text = path.read_text(encoding="utf-8")
            if path.suffix == ".md":
                self.data, self.body = frontmatter.parse(self.text)
            else:
                self.data = yaml.load(self.text, _LOADER)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.reason
            cure = "Put the file back, as UTF-8 text"
            raise ConfigError(path, 1, f"it cannot be read: {reason}", cure) from error
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = f"it is not valid YAML: {getattr(error, 'problem', error)}"
            raise ConfigError(path, mark.line + 1 if mark else 1, problem) from error
        if not isinstance(self.data, dict):
            raise self.error("", "it must be a table of names and values")

    def error(self, near: str, reason: str, cure: str = "") -> ConfigError:
        """A refusal that points at the first line that holds ``near``."""
        lines = [*enumerate(self.text.splitlines(), 1)]
        start = next((n for n, text in lines if text.strip() == f"{self.section}:"), 1)
        is_own = not near or near == f"{self.section}:"
        found = [] if is_own else [n for n, text in lines if near in text]
        line = next((n for n in found if n > start), found[0] if found else start)
        return ConfigError(self.path, line, reason, cure)

    def validated[M: BaseModel](
        self, form: type[M], raw: Any, what: str, context: object = None
    ) -> M:
        """``raw`` as that model; ConfigError, with line and cure, if it is none.

        ``what``: What a field of it is called, such as ``part of a step``.
        """
        try:
            return form.model_validate(raw, context=context)
        except ValidationError as error:
            # An unknown field first: with it another one is missing.
            errors = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
            raise self._refusal(errors[0], form, what) from error

    def _refusal(self, found: Any, form: type[BaseModel], what: str) -> ConfigError:
        path = [str(each) for each in found["loc"] if isinstance(each, str)]
        field, told = path[-1] if path else "", found.get("ctx", {})
        reason, cure, near = f"{field!r} is {found['input']!r}: {found['msg']}", "", f"{field}:"
        match found["type"]:
            case "world":
                reason, cure, near = told["reason"], told["cure"], told["near"] or near
            case "missing":
                reason, cure, near = f"it has no {field!r}", "Give it one", ""
            case "extra_forbidden":
                is_condition = "if" in path[:-1]
                kind = form.model_fields["when"].annotation if is_condition else form
                names = (each.alias or name for name, each in kind.model_fields.items())
                reason = f"{field!r} is not {'a condition' if is_condition else what}"
                cure = f"Use one of: {', '.join(sorted(names))}"
            case "value_error":
                reason = str(told["error"])
        where = f"in {self.section!r}: " if self.section else ""
        return self.error(near, f"{where}{reason}", cure)

    def table(self, key: str) -> dict[str, Any]:
        """The table under ``key``."""
        value = self.data.get(key)
        if not isinstance(value, dict) or not value:
            raise self.error(key, f"{key!r} must be a table with at least one entry")
        return value

    def text_of(self, raw: Any, owner: str, field: str) -> str:
        """The text field ``field`` of the entry ``owner``, on one line."""
        value = raw.get(field) if isinstance(raw, dict) else None
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{owner}:", f"{owner!r} has no {field!r}", "Give it one")
        return " ".join(value.split())

    def known(self, owner: str, value: Any, among: Iterable[str], what: str) -> str:
        """``value``, when it is one of ``among``."""
        names = sorted(among)
        if value not in names:
            raise self.error(
                str(value or owner),
                f"{owner!r} names the {what} {value!r}, which does not exist",
                f"Use one of: {', '.join(names)}",
            )
        return str(value)

    def words(self, raw: Mapping[str, Any], owner: str, field: str) -> tuple[str, ...]:
        """The list of texts ``field`` of the entry ``owner``; missing is empty."""
        value = raw.get(field, [])
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.error(f"{field}:", f"{field!r} of {owner!r} must be a list of texts")
        return tuple(value)
