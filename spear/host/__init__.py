"""SpearHost: the only place where decisions, effects and recording meet (spec 2)."""
