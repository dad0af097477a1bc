"""Shell text → structure: what would run, where it would write. Pure except for the parser's own subprocess."""
