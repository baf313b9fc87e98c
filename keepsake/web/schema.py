"""Prints the API's OpenAPI document: ``python -m keepsake.web.schema > docs/openapi.json``."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path


def main() -> None:
    """Set Django and Evennia up over an empty folder, and print the document."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["KEEPSAKE_HOME"] = home
        os.environ["DJANGO_SETTINGS_MODULE"] = "game.server.conf.settings"
        (Path(home) / "logs").mkdir()
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415 - likewise

        with redirect_stdout(sys.stderr):  # it speaks of tables that are not there
            evennia._init()
        from keepsake.web.api import api  # noqa: PLC0415 - likewise

        print(json.dumps(api.get_openapi_schema(), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
