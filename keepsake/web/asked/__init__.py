"""Questions about agents, each answered in a few short lines: of typed words, and for pages."""
