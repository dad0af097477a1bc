"""The parts of workspace knowledge: records, database, sources, what is no knowledge, how it is shown (spec 4.3)."""
