"""Text for a person: filtered, plain first, the same in one-shot and in the REPL."""
