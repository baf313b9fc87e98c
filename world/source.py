"""A data file with the text it came from, so that a refusal can name the line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import frontmatter
import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from keepsake.errors import ConfigError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C, where PyYAML has it: a world's files take 0.3 s in Python."""


def refused(reason: str, cure: str = "", near: str = "") -> PydanticCustomError:
    """What a validator raises: why, the cure, and words of the line that is wrong."""
    return PydanticCustomError("world", "{reason}", {"reason": reason, "cure": cure, "near": near})


def listed(raw: Any) -> list[Any]:
    """A list, or one thing alone."""
    return raw if isinstance(raw, list) else [raw]


def known(kind: str) -> Any:
    """The type of an id of that kind: one of ``context.ids(kind)``, if there is a context."""

    def check(value: str, info: ValidationInfo) -> str:
        names = sorted(info.context.ids(kind)) if info.context else [value]
        if value not in names:
            reason = f"it names the {kind} {value!r}, which does not exist"
            raise refused(reason, f"Use one of: {', '.join(names)}", value)
        return value

    return Annotated[str, AfterValidator(check)]


def _on_one_line(raw: Any, info: ValidationInfo) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise refused(f"it has no {info.field_name!r}", "Give it one")
    return " ".join(raw.split())


def _list_of_texts(raw: Any) -> Any:
    if not isinstance(raw, list | tuple) or not all(isinstance(each, str) for each in raw):
        raise refused("it must be a list of texts")
    return raw


Text = Annotated[str, BeforeValidator(_on_one_line)]
"""A text on one line."""
Texts = Annotated[tuple[str, ...], BeforeValidator(_list_of_texts)]


class Entry(BaseModel):
    """A part of a file; a field that it does not have is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


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

    def known(self, owner: str, value: Any, among: Iterable[str], what: str) -> str:
        """``value``, when it is one of ``among``."""
        names = sorted(among)
        if value not in names:
            reason = f"{owner!r} names the {what} {value!r}, which does not exist"
            raise self.error(str(value or owner), reason, f"Use one of: {', '.join(names)}")
        return str(value)
