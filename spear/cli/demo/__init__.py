"""The demonstration: a project with a failing test, and the recorded turns that repair it."""
