import assert from 'node:assert/strict';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isObject } from '#shared/json/json.ts';
import { messageIn } from './message-form.ts';

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

/** What tests call of a client. It checks each answer of a tool against the tool's schema after it has listed the tools. */
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
}

/** The content of one message of a prompt. */
export interface PromptContent {
  readonly type: string;
  readonly text?: string;
  readonly resource?: { readonly uri: string; readonly text: string };
}

/** A client of MCP without an SDK. It needs no connection, because the endpoint has no sessions. */
export class PlainMcpClient implements McpClient {
  readonly protocol = '2025-11-25';
  readonly #url: string;
  readonly #key: string;
  readonly #listed = new Map<string, ListedTool>();

  /** @param url of `/mcp` */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async tools(): Promise<ReadonlyArray<ListedTool>> {
    let cursor: unknown;
    do {
      const page = await this.#send('tools/list', cursor === undefined ? {} : { cursor });
      for (const tool of page.tools as ReadonlyArray<ListedTool>) this.#listed.set(tool.name, tool);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return [...this.#listed.values()];
  }

  async call(name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const answer = (await this.#send('tools/call', { name, arguments: given })) as unknown as ToolAnswer;
    const schema = this.#listed.get(name)?.outputSchema;
    if (schema !== undefined && answer.isError !== true) assertFits(schema, answer.structuredContent);
    return answer;
  }

  async resources(): Promise<ReadonlyArray<string>> {
    const { resources } = await this.#send('resources/list');
    return (resources as ReadonlyArray<{ readonly uri: string }>).map(({ uri }) => uri);
  }

  async templates(): Promise<ReadonlyArray<string>> {
    const { resourceTemplates } = await this.#send('resources/templates/list');
    return (resourceTemplates as ReadonlyArray<{ readonly uriTemplate: string }>).map(({ uriTemplate }) => uriTemplate);
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members that it reads.
  async read(uri: string): Promise<any> {
    const { contents } = await this.#send('resources/read', { uri });
    const [content] = contents as ReadonlyArray<Record<string, string>>;
    assert.deepEqual([content?.uri, content?.mimeType], [uri, 'application/json']);
    return JSON.parse(content?.text ?? '');
  }

  async complete(ref: object, argument: object): Promise<ReadonlyArray<string>> {
    const { completion } = await this.#send('completion/complete', { ref, argument });
    return (completion as { readonly values: ReadonlyArray<string> }).values;
  }

  async prompts(): Promise<ReadonlyArray<string>> {
    const { prompts } = await this.#send('prompts/list');
    return (prompts as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name);
  }

  async prompt(name: string, given: Record<string, string>): Promise<ReadonlyArray<PromptContent>> {
    const { messages } = await this.#send('prompts/get', { name, arguments: given });
    return (messages as ReadonlyArray<{ readonly content: PromptContent }>).map(({ content }) => content);
  }

  /** @throws the error of JSON-RPC, with its code */
  async #send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': this.protocol,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = messageIn(await answer.text());
    if (isObject(result)) return result;
    throw Object.assign(new Error(`${method}: ${answer.status} ${JSON.stringify(error)}`), error);
  }
}

function assertFits(schema: object, value: unknown): void {
  const { valid, errorMessage } = new AjvJsonSchemaValidator().getValidator(schema as never)(value);
  assert.ok(valid, errorMessage ?? 'it does not fit');
}
