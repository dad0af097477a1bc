"""Public pages and documents, fetched safely and turned into text (spec 8.5). Knows no host, no model, no workspace."""
