"""The service: memories over HTTP and MCP, for programs in any language."""
