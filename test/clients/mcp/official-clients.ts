import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ListedTool, McpClient, PromptContent, ToolAnswer } from '../../mcp/support/mcp-client.ts';

/** The protocols that tests speak: of the first SDK, and of the second in both of its eras. */
export const dialects = ['2025-11-25, first SDK', '2025-11-25, second SDK', '2026-07-28'] as const;

export type Dialect = (typeof dialects)[number];

/** A client that holds a connection. */
export type ConnectedClient = McpClient & { readonly close: () => Promise<void> };

/** Connects an official client. @param url of `/mcp` */
export async function connect(dialect: Dialect, url: string, key: string, further = {}): Promise<ConnectedClient> {
  const options = { requestInit: { headers: { Authorization: `Bearer ${key}`, ...further } } };
  const identity = { name: 'test', version: '1.0.0' };
  if (dialect === '2025-11-25, first SDK') {
    const client = new FirstClient(identity);
    const transport = new FirstTransport(new URL(url), options);
    // The SDK's types were built without exactOptionalPropertyTypes.
    await client.connect(transport as never);
    return adapted(client as never, transport.protocolVersion);
  }
  const mode = dialect === '2026-07-28' ? ({ pin: '2026-07-28' } as const) : ('legacy' as const);
  const client = new Client(identity, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
  return adapted(client, client.getNegotiatedProtocolVersion());
}

function adapted(client: Client, protocol: string | undefined): ConnectedClient {
  return {
    protocol,
    tools: async () => {
      const tools: ListedTool[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? undefined : { cursor });
        tools.push(...(page.tools as ReadonlyArray<ListedTool>));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return tools;
    },
    call: async (name, given = {}) => (await client.callTool({ name, arguments: given })) as unknown as ToolAnswer,
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) => {
      const [content] = (await client.readResource({ uri })).contents;
      assert.equal(content?.uri, uri);
      assert.equal(content.mimeType, 'application/json');
      return JSON.parse('text' in content ? content.text : '');
    },
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, given) => {
      const { messages } = await client.getPrompt({ name, arguments: given });
      return messages.map(({ content }) => content as PromptContent);
    },
    close: () => client.close(),
  };
}
