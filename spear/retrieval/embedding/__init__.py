"""Vectors beside the words: optional, filled in the background, fused by rank (spec 4.5)."""
