"""Measurements as ratios to a floor taken in the same run (spec 9.1). Nothing here is a test; nothing asserts a time."""
