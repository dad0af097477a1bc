"""Readers: each turns one format into the same sequence of blocks, and decides nothing about meaning (spec 5.1)."""
