"""What a simulation shows: measures from its files, a blind interview, and the page of both."""
