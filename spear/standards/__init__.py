"""Standards: ingesting a document into units, storing, binding and searching them (spec 5.1 to 5.3)."""
