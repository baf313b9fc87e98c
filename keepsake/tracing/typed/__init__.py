"""Words that a person typed, as what they mean: lines about a thing, and which belong together."""
