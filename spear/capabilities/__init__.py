"""External capabilities: registered providers, their MCP clients, and the gateway the host answers with (spec 4.4)."""
