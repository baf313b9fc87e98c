"""The prompt of a thought: script, sections, tokens, and the verbs that an answer may use."""
