"""The operator's commands on standards: one implementation for `spear-chat standard …` and `/standard …` (spec 5.2)."""
