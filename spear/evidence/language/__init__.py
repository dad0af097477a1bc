"""Words an answer claims, hedges and counts with: one module a language, read by `spear.evidence.claims`."""
