"""How probable it is that a line asks for something that was told or happened before.

Most lines of a talk ask for nothing of that kind: a greeting, a remark, an errand. The best that a
search finds for them is an old line of the same kind. A linear probe of the line's vector tells
them apart; in evenings that it was not learned from, a line that asks for something told before has
the higher logit in 85 to 90 of 100 pairs. ``python -m tests.bench needs`` learns it again.
"""

from __future__ import annotations

import base64
import math
from array import array
from collections.abc import Sequence

MODEL = "embedded:all-MiniLM-L6-v2-onnx-int8"
"""The embedder whose vectors the probe was learned from."""
UNKNOWN = -1.17
"""The mean logit of a line, for a vector of another embedder."""

_CONSTANT = -1.05
_STEP = 0.01749
"""What a step of a weight is worth."""
_STEPS = (
    "8SzJNxgOMSf/xQ36Gezi+Pfbz+0PC+kiHELaBR0WCOkWANPi8und1fbpPQwREgsf/ycD/+zl8xb/NfEA"
    "BtMcAtXT4/8f6e4BBOgNCSgo9tb8Ac8yGv/x+fjwMuPqDf359A4yARb4HNfqzwH29S8Y6cDfL/z/FwLt"
    "6D3VFLs2GgAF3vQd6w0dANP4/x38Bvv8yQIoCQc6EekLCd/21t4TMxXmRC/5vv8KKfUI2fL16h7iD+Th"
    "GPrjFBcP7fkWC/YY5+MDDAgY7SQEAhEE6iPI9gUS1hXL+/ct9d7u+wsH1gDz6h7uBOTYEAX2KOUIFeYU"
    "4/EM9fn+E8wK7SfGC/sBJAMpCyETBvyqNB0NIf310wAg7un4CwEI4tP/CgUXGdbx4DkPvfrmBxwpEdv+"
    "4eT8OQ7g7B0GCecTEPQf7dYX2wAJJMvw8gUDCwH14PP23xvs+R5/8w/g/wgG9glM7P4DCee2vCr4yjLP"
    "F/Mc7ics5gEX2fwh9xXFDSj0DtrpEO8X"
)
"""The weight of each number of a vector, in steps: a byte each, in base64."""
_WEIGHTS = array("b", base64.b64decode(_STEPS))


def need(vector: Sequence[float], model: str) -> float:
    """Return the logit of the probability that a line asks for something told before.

    Args:
        vector: The vector of the line.
        model: The name of the embedder that made it.
    """
    if model != MODEL:
        return UNKNOWN
    return _CONSTANT + _STEP * math.sumprod(_WEIGHTS, vector)
