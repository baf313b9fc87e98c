"""The description of the API: valid, complete, and the one in the docs."""

import openapi_spec_validator

from game.web.api import openapi
from game.web.live.series import MOST_HOURS
from keepsake.paths import REPOSITORY


def test_it_is_valid():
    openapi_spec_validator.validate(openapi.document())


def test_the_docs_have_this_one():
    kept = (REPOSITORY / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert kept == openapi.text(), "python -m game.web.api.openapi > docs/openapi.json"


def test_every_field_says_what_it_means():
    for name, schema in openapi.document()["components"]["schemas"].items():
        assert schema["description"].endswith((".", ":")), name
        if name in ("Compactions",):  # told in one line
            continue
        for field, told in schema["properties"].items():
            assert told.get("description"), f"{name}.{field}"


def test_the_description_allows_as_much_as_the_charts_have():
    (hours,) = next(op.parameters for op in openapi.OPERATIONS if op.id == "agent_series")
    assert hours.schema["maximum"] == MOST_HOURS == 168
