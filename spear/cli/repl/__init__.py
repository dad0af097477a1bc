"""The chat: small modules over the event stream, one writer of the terminal (spec 8.2)."""
