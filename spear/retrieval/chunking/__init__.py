"""How a file is cut into passages: by definitions and sections where its syntax is known, by lines elsewhere."""
