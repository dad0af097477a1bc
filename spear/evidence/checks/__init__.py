"""Which commands are checks: one table a family of tools, read from parsed shell, never from substrings (spec 3.3)."""
