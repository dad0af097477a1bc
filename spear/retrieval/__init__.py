"""Indexes of corpora and the search of them: passages by syntax, SQLite FTS5, vectors where installed (spec 4.5)."""
