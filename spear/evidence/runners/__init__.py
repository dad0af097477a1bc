"""What test runners say of themselves: summaries read from bounded output text, one module a family (spec 3.3)."""
