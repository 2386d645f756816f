import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { AskOperation } from '#mcp/request/ask-operation.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import { type McpResource, readJsonText, resourceType, uriOf } from '#mcp/resources/resource-catalogue.ts';
import type { Json } from '#shared/json/json.ts';

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** The query with this path parameter, for the completion of ids; null for other arguments. */
  readonly completedBy: { readonly path: string; readonly parameter: string } | null;
}

export type GivenArguments = Readonly<Record<string, string>>;

export interface PromptReader {
  /** Whether a query with this name exists and the caller may use it. */
  readonly canAsk: (query: string) => boolean;
  /** Runs a query, and adds its answer to the prompt. @throws ProtocolError if the query is refused */
  readonly include: (query: string, input: GivenArguments) => Promise<Json>;
  /** @throws ProtocolError if it is refused */
  readonly ask: (query: string, input: GivenArguments) => Promise<Json>;
}

/** A prompt: a text that starts a task, and the records for it. */
export interface PromptDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: ReadonlyArray<PromptArgument>;
  /** The queries that the prompt needs. A key that may not use them does not see the prompt. */
  readonly needs: ReadonlyArray<string>;
  readonly read: (reader: PromptReader, given: GivenArguments) => Promise<void>;
  readonly text: (given: GivenArguments) => string;
}

export function listedPrompt({ name, title, description, arguments: described }: PromptDefinition): Prompt {
  const listed = described.map(({ name, description, required }) => ({ name, description, required }));
  return { name, title, description, arguments: listed };
}

export function visiblePrompts(
  table: ReadonlyArray<PromptDefinition>,
  visible: ReadonlyArray<McpResource>,
): ReadonlyArray<PromptDefinition> {
  const names = new Set(visible.map(({ tool }) => tool.tool.name));
  return table.filter(({ needs }) => needs.every((name) => names.has(name)));
}

/**
 * The prompt's text, followed by the records that it is about.
 * @param visible the queries that the caller may use
 * @throws ProtocolError for a missing argument, and for a record that cannot be read
 */
export async function getPrompt(
  ask: AskOperation,
  mcpRequest: McpRequest,
  visible: ReadonlyArray<McpResource>,
  definition: PromptDefinition,
  given: GivenArguments,
): Promise<GetPromptResult> {
  const missing = definition.arguments.find(({ name, required }) => required && (given[name] ?? '') === '');
  if (missing !== undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The argument ${missing.name} is required.`);
  }
  const messages: GetPromptResult['messages'] = [
    { role: 'user', content: { type: 'text', text: definition.text(given) } },
  ];
  const include = (uri: string, text: string) =>
    messages.push({ role: 'user', content: { type: 'resource', resource: { uri, mimeType: resourceType, text } } });
  await definition.read(readerOf(ask, mcpRequest, visible, include), withoutEmpty(given));
  return { description: definition.description, messages };
}

function readerOf(
  ask: AskOperation,
  mcpRequest: McpRequest,
  visible: ReadonlyArray<McpResource>,
  include: (uri: string, text: string) => void,
): PromptReader {
  const named = (query: string) => visible.find(({ tool }) => tool.tool.name === query);
  const read = async (query: string, input: GivenArguments) => {
    const resource = named(query);
    if (resource === undefined) throw new Error(`The prompt asks ${query}, which it does not need`);
    const uri = uriOf(resource, input);
    return { uri, text: await readJsonText(ask, mcpRequest, resource.tool.route, input, uri) };
  };
  return {
    canAsk: (query) => named(query) !== undefined,
    ask: async (query, input) => JSON.parse((await read(query, input)).text) as Json,
    include: async (query, input) => {
      const { uri, text } = await read(query, input);
      include(uri, text);
      return JSON.parse(text) as Json;
    },
  };
}

/** An empty optional argument counts as missing, because forms send empty texts. */
function withoutEmpty(given: GivenArguments): GivenArguments {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}
