"""The state directory: audit, evidence, sessions, captured output, and keeping secrets out of all of them."""
