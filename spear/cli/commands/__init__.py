"""Slash commands: one declarative registry, and the handlers by family (spec 8.2)."""
