"""The process that reads one document of a stranger: bytes on stdin, one JSON object on stdout (spec 8.5)."""

OUT_OF_MEMORY = 3
"""The status that says so."""
