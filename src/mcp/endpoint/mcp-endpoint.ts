import * as t from 'io-ts';
import { post, type StreamingOperation, type StreamReport } from '#application/operations/operation.ts';
import type { McpAnswerer, McpEndpointOptions } from './mcp-answerer.ts';

const mcpPath = '/mcp';

/**
 * The endpoint of MCP's "Streamable HTTP", without sessions. Each request is authenticated and rate-limited like a
 * request to the REST API. It has one message, and gets one as the answer. The endpoint serves the protocol of
 * 2026-07-28 and earlier ones.
 */
export function createMcpEndpoint(options: McpEndpointOptions): StreamingOperation {
  const answerer = loadAtFirstUse(options);
  return {
    name: 'mcp',
    summary: 'Answer a message of the Model Context Protocol',
    kind: 'streaming',
    plane: 'control',
    group: 'MCP',
    http: post(mcpPath),
    // The endpoint itself needs no scope. Each tool needs the scope of its operation.
    scope: null,
    input: t.type({}),
    output: null,
    failures: ['origin-not-allowed', 'too-many-calls'],
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

/** The report for logs and metrics. Each call of a tool has its own log line. */
const relayed: StreamReport = { kind: 'relayed', status: null, code: null, model: null, target: null, attempts: 0 };

/**
 * The official server is loaded with the first request: loading takes a twelfth of the start, and most services never
 * use it.
 */
function loadAtFirstUse(options: McpEndpointOptions): () => Promise<McpAnswerer> {
  let loaded: Promise<McpAnswerer> | null = null;
  const load = async () => new (await import('./mcp-answerer.ts')).McpAnswerer(options, mcpPath);
  return () => {
    loaded ??= load();
    return loaded;
  };
}
