"""Estimating how many tokens a text costs where no tokenizer is at hand."""

CHARACTERS_PER_TOKEN = 4
"""English prose runs at about four characters a token with the tokenizers in use."""


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
