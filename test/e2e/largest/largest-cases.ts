import type { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { refusedWrites, writeInputs } from '#test/e2e/support/write-inputs.ts';
import { seededRandom } from '#test/soak/random.ts';
import type { Client, RawRequest } from '#test/support/service/client.ts';
import { FullTenant } from './full-tenant.ts';
import { maxBodyBytes } from './largest-bodies.ts';
import { furtherReads, type LargestRead, largestReads } from './largest-reads.ts';
import { LargestRequests, maxHeaderBytes } from './largest-requests.ts';
import {
  fileBytes,
  largestChats,
  largestEmbeddings,
  largestMessages,
  largestResponses,
  largestSpeech,
  largestUpload,
  maxGatewayBytes,
  toolCall,
} from './streaming-requests.ts';

/** The largest request of an operation. */
export interface LargestCase {
  /** The operation, and what fills it where several inputs are tried. */
  readonly name: string;
  readonly operation: string;
  /** Sends the request. */
  readonly client: Client;
  /** The documented limit of its body, or of its headers if it has no body. */
  readonly limitBytes: number;
  readonly page?: LargestRead['page'];
  /** Makes the resources that it needs, and the request. */
  readonly make: () => Promise<RawRequest>;
}

/** What cases are made of. */
export interface CaseContext {
  /** A client with the admin key, of a service with `writableEnvironment`. */
  readonly client: Client;
  readonly operations: DocumentedOperations;
  /** The project of the resources that writes need. */
  readonly projectId: string;
  /** A client with an admin key of another project, for the resources that reads need. */
  readonly reader: { readonly client: Client; readonly projectId: string };
  readonly seed: number;
}

const notStopped = 'it is refused while nothing has stopped, or waits';

/** The operations without a case, with the reasons. */
export const leftOut: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(refusedWrites).map((name) => [name, notStopped])),
  follow_events: 'its answer does not end: the live feed has a row of its own in the benchmark of abuse',
};

/** Returns the largest requests of all documented operations. */
export function largestCases(context: CaseContext): ReadonlyArray<LargestCase> {
  return [...controlWrites(context), ...streamed(context), ...reads(context)];
}

/** Each run makes the same request again, of resources that are new. */
function controlWrites({ client, operations, projectId, seed }: CaseContext): ReadonlyArray<LargestCase> {
  const own = new Set([
    ...['create_file', 'create_transcription', 'create_speech', 'complete_chat', 'create_embeddings'],
    ...['create_message', 'count_message_tokens', 'create_response'],
  ]);
  const names = operations.writes.filter((name) => !(name in leftOut) && !own.has(name));
  return names.map((name) => ({
    name,
    operation: name,
    client,
    limitBytes: operations.named(name).method === 'delete' ? maxHeaderBytes : maxBodyBytes,
    make: async () => {
      const requests = new LargestRequests(client, operations, seededRandom(seed));
      if (name === 'write_digest') await makeNews(requests, projectId);
      const input = await writeInputs({ client, operations: requests, projectId })[name]?.();
      if (input === undefined) throw new Error(`${name} has no input`);
      return requests.requestOf(name, input.path, input.body);
    },
  }));
}

/** A digest is of what is new: what a busy hour has stored. */
async function makeNews(requests: LargestRequests, projectId: string): Promise<void> {
  for (let made = 0; made < 8; made += 1) await requests.call('create_flow', { projectId });
}

function streamed({ client, operations, projectId, seed }: CaseContext): ReadonlyArray<LargestCase> {
  const chats = Object.entries(largestChats).map(([of, make]) => ({
    name: `complete_chat of ${of}`,
    operation: 'complete_chat',
    client,
    limitBytes: maxGatewayBytes,
    make: async () => make(seededRandom(seed)),
  }));
  const upload = (operation: string, path: string, fields: Readonly<Record<string, string>>) => ({
    name: operation,
    operation,
    client,
    limitBytes: fileBytes,
    make: async () => largestUpload(path, fields),
  });
  const messages = (operation: string, of: keyof typeof largestMessages, path: string) => ({
    name: `${operation} of ${of}`,
    operation,
    client,
    limitBytes: maxGatewayBytes,
    make: async () => largestMessages[of](seededRandom(seed), path),
  });
  const flowOfTool = async () => {
    const { body } = new LargestRequests(client, operations, seededRandom(seed)).requestOf('create_flow', {
      projectId,
    });
    return toolCall('create_flow', `{"projectId":"${projectId}",${String(body).slice(1)}`);
  };
  return [
    ...chats,
    {
      name: 'create_speech',
      operation: 'create_speech',
      client,
      limitBytes: maxGatewayBytes,
      make: async () => largestSpeech(seededRandom(seed)),
    },
    // A body of many values is not translated.
    ...(['one text', 'many texts'] as const).map((of) => messages('create_message', of, '/v1/messages')),
    ...Object.entries(largestResponses).map(([of, make]) => ({
      name: `create_response of ${of}`,
      operation: 'create_response',
      client,
      limitBytes: maxGatewayBytes,
      make: async () => make(seededRandom(seed)),
    })),
    ...(['many texts', 'values'] as const).map((of) =>
      messages('count_message_tokens', of, '/v1/messages/count_tokens'),
    ),
    {
      name: 'create_embeddings',
      operation: 'create_embeddings',
      client,
      limitBytes: maxGatewayBytes,
      make: async () => largestEmbeddings(seededRandom(seed)),
    },
    upload('create_file', '/v1/files', { purpose: 'user_data' }),
    upload('create_transcription', '/v1/audio/transcriptions', { model: 'sandbox' }),
    { name: 'create_flow as a tool of MCP', operation: 'mcp', client, limitBytes: maxBodyBytes, make: flowOfTool },
  ];
}

function reads({ reader, operations, seed }: CaseContext): ReadonlyArray<LargestCase> {
  const tenant = new FullTenant(reader.client, operations, seededRandom(seed), reader.projectId);
  const requests = new LargestRequests(reader.client, operations, seededRandom(seed));
  const caseOf = (operation: string, what: string, { of, query, accept, page }: LargestRead): LargestCase => ({
    name: `${operation}${what}`,
    operation,
    client: reader.client,
    limitBytes: maxHeaderBytes,
    ...(page === undefined ? {} : { page }),
    make: async () => {
      const { path, headers, ...request } = requests.requestOf(operation, await of(tenant));
      const asked = await query?.(tenant);
      return {
        ...request,
        path: asked === undefined ? path : `${path}?${asked}`,
        headers: { ...headers, ...(accept === undefined ? {} : { accept }) },
      };
    },
  });
  return [
    ...Object.entries(largestReads).map(([operation, read]) => caseOf(operation, '', read)),
    ...furtherReads.map(({ operation, what, more }) => {
      const read = largestReads[operation];
      if (read === undefined) throw new Error(`${operation} is not read`);
      return caseOf(operation, ` ${what}`, { ...read, ...more });
    }),
  ];
}
