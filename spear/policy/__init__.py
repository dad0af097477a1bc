"""Pure decisions over values: mode, scope, target and parsed command in; allowed or refused, with reasons, out."""
