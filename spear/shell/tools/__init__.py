"""What single programs do with the files on their command line, one family a module, read from tables."""
