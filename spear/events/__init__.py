"""The vocabulary every engine emits and every front end shows. Imports no engine and no front end."""
