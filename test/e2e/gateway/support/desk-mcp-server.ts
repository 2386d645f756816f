import { createInterface } from 'node:readline';

/** An MCP server over its standard streams, with one tool (https://modelcontextprotocol.io/specification). */
const opening = {
  name: 'opening_hours',
  description: 'When the desk is open',
  inputSchema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

const results: Readonly<Record<string, (params: { readonly protocolVersion?: string }) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'desk', version: '1' },
  }),
  'tools/list': () => ({ tools: [opening] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'nine to five' }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params ?? {}) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}
