"""The files of an agent's books on the dashboard: their text, their versions, edits and undo.

An edit on the page is the same as an edit of the file: the game reads it at once. The text before
is kept as a version. `forget me` cleans versions as it cleans the files.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import P, QueryEx, Router
from pydantic import Field, StrictStr

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import now
from keepsake.books.editing import LONGEST_FILE, EditableBook
from keepsake.errors import NoteRefused
from keepsake.web import world
from keepsake.web.access import NotFound
from keepsake.web.actions import AGENT_PATH, RESPONSES, RequestBody, edit_book
from keepsake.web.shapes import ERRORS, Done, Refused, Shape

router = Router()

type FileName = Annotated[StrictStr, Field(min_length=1, max_length=200)]


class VersionView(Shape):
    """An earlier version of a file."""

    id: str
    until: datetime
    """When it was replaced."""
    text: str


class FileView(Shape):
    """A file of an agent's book, as a person edits it."""

    of: EditableBook
    file: str
    text: str
    """Its whole text; empty if there is no such file yet."""
    versions: tuple[VersionView, ...]
    """The versions before edits on this page, the newest first; at most 20."""


class FileText(RequestBody):
    """A file's new text."""

    of: EditableBook
    file: FileName
    text: Annotated[StrictStr, Field(max_length=LONGEST_FILE)]
    was: Annotated[StrictStr, Field(max_length=LONGEST_FILE)]
    """The text that the person began with: an edit of anything else is refused."""


class VersionOf(RequestBody):
    """An earlier version of a file."""

    of: EditableBook
    file: FileName
    version: Annotated[StrictStr, Field(max_length=40)]
    """Its ``id``."""


@router.get(f"{AGENT_PATH}/file", response={200: FileView, ERRORS: Refused})
def file(
    request: HttpRequest, number: int, of: EditableBook, file: QueryEx[str, P(max_length=200)]
) -> FileView:
    """The text of a file of an agent's books, and its versions before edits."""
    editor = world.mind_of_agent(number).books.editor
    try:
        text = editor.text(of, file)
        versions = editor.versions(of, file)
    except NoteRefused as error:
        raise NotFound(error.what, error.cure) from error
    return FileView(
        of=of, file=file, text=text, versions=tuple(map(VersionView.model_validate, versions))
    )


@router.post(f"{AGENT_PATH}/edit-file", response=RESPONSES)
def edit_file(request: HttpRequest, number: int, body: FileText) -> Done:
    """Edit a file of an agent's books. The text before is kept as a version."""

    def work(mind: Mind) -> str:
        mind.books.editor.edit(body.of, body.file, body.text, body.was, now())
        mind.read_edits()
        return f"{body.file} is changed. The version before is kept"

    return edit_book(request, number, f"edit {body.of}/{body.file} of", work)


@router.post(f"{AGENT_PATH}/restore-file", response=RESPONSES)
def restore_file(request: HttpRequest, number: int, body: VersionOf) -> Done:
    """Bring back an earlier version of a file; the present text becomes a version."""

    def work(mind: Mind) -> str:
        mind.books.editor.restore(body.of, body.file, body.version, now())
        mind.read_edits()
        return f"{body.file} is as it was before"

    return edit_book(request, number, f"restore {body.of}/{body.file} of", work)
