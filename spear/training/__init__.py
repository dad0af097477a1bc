"""Training data as a by-product of turns (spec 7). Nothing here is model-visible and no tool reaches it."""
