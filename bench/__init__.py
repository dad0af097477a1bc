"""Measurements as ratios to a floor taken in the same run (spec 9.1). None of it is a test."""
