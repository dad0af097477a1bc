"""Control of one turn: classification of the request and the bounded lifecycle of `TaskController`."""
