import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** A tool as a client lists it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: ReadonlyArray<string>;
  };
  readonly outputSchema?: object;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** The answer to a call of a tool. */
export interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members that it reads.
  readonly structuredContent?: any;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * The common methods of both official clients. They check each answer against the tool's schema after listing the
 * tools.
 */
export interface McpClient {
  readonly protocol: string | undefined;
  readonly tools: () => Promise<ReadonlyArray<ListedTool>>;
  readonly call: (name: string, given?: Record<string, unknown>) => Promise<ToolAnswer>;
  readonly resources: () => Promise<ReadonlyArray<string>>;
  readonly templates: () => Promise<ReadonlyArray<string>>;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members that it reads.
  readonly read: (uri: string) => Promise<any>;
  readonly complete: (
    ref: { type: 'ref/resource'; uri: string } | { type: 'ref/prompt'; name: string },
    argument: { name: string; value: string },
  ) => Promise<ReadonlyArray<string>>;
  readonly prompts: () => Promise<ReadonlyArray<string>>;
  readonly prompt: (name: string, given: Record<string, string>) => Promise<ReadonlyArray<PromptContent>>;
  readonly close: () => Promise<void>;
}

/** The content of one message of a prompt. */
export interface PromptContent {
  readonly type: string;
  readonly text?: string;
  readonly resource?: { readonly uri: string; readonly text: string };
}

/** The protocols that tests speak: of the first SDK, and of the second in both of its eras. */
export const dialects = ['2025-11-25, first SDK', '2025-11-25, second SDK', '2026-07-28'] as const;

export type Dialect = (typeof dialects)[number];

/** Connects an official client. @param url of `/mcp` */
export async function connect(dialect: Dialect, url: string, key: string, further = {}): Promise<McpClient> {
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

function adapted(client: Client, protocol: string | undefined): McpClient {
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
