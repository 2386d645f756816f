import * as t from 'io-ts';
import { post, type RelayReport, type StreamingOperation } from '#application/operations/operation.ts';
import type { McpAnswerer, McpEndpointOptions } from './mcp-answerer.ts';
import { mcpPath } from './mcp-path.ts';

/**
 * The endpoint of MCP's "Streamable HTTP", without sessions: each request is authenticated and counted like one to the
 * REST API, brings one message and is answered with one. It serves the protocol of 2026-07-28 and those before it.
 */
export function createMcpEndpoint(options: McpEndpointOptions): StreamingOperation {
  const answerer = loadAtFirstUse(options);
  return {
    name: 'mcp',
    summary: 'Answer a message of the Model Context Protocol',
    kind: 'relay',
    plane: 'control',
    group: 'MCP',
    http: post(mcpPath),
    // Each tool asks for the scope of its operation.
    scope: null,
    input: t.type({}),
    output: null,
    failures: ['origin-not-allowed'],
    paged: false,
    hasRevision: false,
    consumes: 'application/json',
    produces: ['text/event-stream'],
    example: {},
    relay: async (request) => {
      await (await answerer()).answer(request);
      return relayed;
    },
  };
}

/** What logs and metrics hear: each tool has a line of its own. */
const relayed: RelayReport = { kind: 'relayed', status: null, code: null, model: null, target: null, attempts: 0 };

/** The official server takes a twelfth of what a start takes to load, and most services never use it. */
function loadAtFirstUse(options: McpEndpointOptions): () => Promise<McpAnswerer> {
  let loaded: Promise<McpAnswerer> | null = null;
  const load = async () => new (await import('./mcp-answerer.ts')).McpAnswerer(options);
  return () => {
    loaded ??= load();
    return loaded;
  };
}
