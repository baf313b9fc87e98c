"""Reads the world's data files as Pydantic models. Errors name file, line, reason and cure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from frontmatter.default_handlers import YAMLHandler
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from keepsake import regular_files
from keepsake.errors import ConfigError

if TYPE_CHECKING:
    from evennia.objects.models import ObjectDB

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C, if PyYAML has it: in Python the world's files take 0.3 s."""


def refused(reason: str, cure: str = "", *at: str) -> PydanticCustomError:
    """Return the error that a validator raises: reason, cure, and the keys of the wrong value."""
    return PydanticCustomError("world", "{reason}", {"reason": reason, "cure": cure, "at": at})


def listed(raw: Any) -> list[Any]:
    """Return a list as it is, and any other value in a list."""
    return raw if isinstance(raw, list) else [raw]


def known(kind: str) -> Any:
    """Return the type of an id of that kind: one of ``context[kind]``."""

    def check(value: str, info: ValidationInfo) -> str:
        names = sorted((info.context or {}).get(kind, (value,)))
        if value not in names:
            reason = f"it names the {kind} {value!r}, which does not exist"
            raise refused(reason, f"Use one of: {', '.join(names)}")
        return value

    return Annotated[str, AfterValidator(check)]


def ids(kind: str) -> Any:
    """Return the type of one id of that kind or a list of them."""
    return Annotated[tuple[known(kind), ...], BeforeValidator(listed)]


def by_id[E: Entry](form: type[E]) -> Any:
    """Return the type of a table of entries; each entry gets its key as ``id``."""

    def named(raw: Any) -> Any:
        if not isinstance(raw, dict) or not raw:
            raise refused("it must be a table with at least one entry")
        return {k: {"id": k, **each} if isinstance(each, dict) else each for k, each in raw.items()}

    return Annotated[dict[str, form], BeforeValidator(named)]


def _on_one_line(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise refused("it must be a text")
    return " ".join(raw.split())


Text = Annotated[str, BeforeValidator(_on_one_line)]
"""A text on one line."""


class Entry(BaseModel):
    """A part of a file; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="forbid")


_UNKNOWN = "extra_forbidden"
"""Pydantic's type of the error for a field that is not known."""


class Checked:
    """Data that is read as a model, with errors that point into its file.

    Attributes:
        data: The values by name, as YAML has them.
    """

    data: dict[str, Any]

    def error(self, at: Sequence[Any], reason: str, cure: str = "") -> ConfigError:
        """Return an error that points to the line of the value at these keys."""
        raise NotImplementedError

    def read[M: BaseModel](self, form: type[M], context: Any = None, **more: Any) -> M:
        """Read the data as a model; ``more`` has values that are not in the file.

        Raises:
            ConfigError: The data do not fit the model; it reports the first mistake.
        """
        try:
            return form.model_validate(more | self.data, context=context)
        except ValidationError as error:
            found, cure = _first(error)
            extra = found.get("ctx", {})
            at = (*found["loc"], *extra.get("at", ()))
            where = ".".join(str(key) for key in at)
            what = "there is no such field" if found["type"] == _UNKNOWN else found["msg"]
            reason = f"{where}: {what}" if where else what
            raise self.error(at, reason, extra.get("cure", cure)) from error


def _first(error: ValidationError) -> tuple[ErrorDetails, str]:
    """Return the mistake to report, and its cure if it has one.

    A misspelt field is two mistakes: it is unknown, and the right one is missing.
    """
    errors = error.errors(include_url=False)
    first = errors[0]
    beside = [
        each
        for each in errors
        if each["type"] == _UNKNOWN and each["loc"][:-1] == first["loc"][:-1]
    ]
    if first["type"] == "missing" and beside:
        return beside[0], f"Write {first['loc'][-1]!r}, if that is meant"
    return first, ""


class DataFile(Checked):
    """One YAML mapping, which may be the front matter of a page.

    Attributes:
        body: The text under the front matter.

    Raises:
        ConfigError: The file is missing, unreadable, not UTF-8, or not a YAML mapping.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.body = ""
        try:
            self._yaml = regular_files.read_text(path)
            if path.suffix == ".md":
                self._yaml, self.body = self._split(self._yaml)
            self.data = yaml.load(self._yaml, _LOADER)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.reason
            cure = "Put the file back, as UTF-8 text"
            raise ConfigError(path, 1, f"it cannot be read: {reason}", cure) from error
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = f"it is not valid YAML: {getattr(error, 'problem', error)}"
            raise ConfigError(path, mark.line + 1 if mark else 1, problem) from error
        if not isinstance(self.data, dict):
            raise self.error((), "it must be a table of names and values")

    def _split(self, page: str) -> tuple[str, str]:
        """Return the front matter of a page, and the text under it."""
        handler = YAMLHandler()
        if not handler.detect(page) or len(handler.FM_BOUNDARY.split(page, 2)) < 3:
            cure = "Write it between two lines `---`, and the text below"
            raise ConfigError(self.path, 1, "it does not begin with names and values", cure)
        front, body = handler.split(page)
        return str(front), str(body)

    def error(self, at: Sequence[Any], reason: str, cure: str = "") -> ConfigError:
        """Return an error that points to the line of the value at these keys."""
        node = yaml.compose(self._yaml, _LOADER)
        line = 0
        for key in at:
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == str(key)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                found = (node.value[key], node.value[key])
            else:
                found = None
            if found is None:
                break
            line = found[0].start_mark.line
            node = found[1]
        return ConfigError(self.path, line + 1, reason, cure)


TAG_CATEGORY = "keepsake"


def find(kind: str, key: str) -> ObjectDB | None:
    """Return the object of a kind (room, exit, thing, agent) with this id; None if missing."""
    from evennia.objects.models import ObjectDB  # noqa: PLC0415 - files are read without a world

    return ObjectDB.objects.get_by_tag(f"{kind}:{key}", category=TAG_CATEGORY).first()


def id_of(obj: Any) -> str:
    """Return the id of an object in its file: ``quay`` for ``room:quay``; empty if it has none."""
    tags = obj.tags.get(category=TAG_CATEGORY, return_list=True) if obj is not None else []
    return str(tags[0]).partition(":")[2] if tags and tags[0] else ""
