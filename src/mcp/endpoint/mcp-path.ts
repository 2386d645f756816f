/** Where the server of MCP is. */
export const mcpPath = '/mcp';
