"""Leave to say words to somebody who does not know what their prompt held in private."""
