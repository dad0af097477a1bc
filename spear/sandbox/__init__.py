"""Confinement: one sandbox per command, planned as values, run by `CommandRunner`."""
