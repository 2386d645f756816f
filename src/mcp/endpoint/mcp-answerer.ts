import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import * as E from 'fp-ts/lib/Either.js';
import { failures } from '#domain/failures.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Admission } from '#exchange/admission.ts';
import type { ArrivalLimits } from '#exchange/body.ts';
import { inexactIntegers, numberNotExact, parseJsonObject, readJsonBytes } from '#exchange/json-body.ts';
import { sendProblem } from '#exchange/problem.ts';
import type { Authorised } from '#exchange/request.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import { type McpServerDependencies, McpServers } from '#mcp/server/mcp-server.ts';
import { readToolFilter } from '#mcp/tools/tool-catalogue.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { type AllowedCallers, checkCallers } from './allowed-callers.ts';
import { readMessage } from './read-message.ts';

export interface McpEndpointOptions extends McpServerDependencies {
  readonly callers: AllowedCallers;
  /** Limits the answers that are made at the same time. */
  readonly admission: Pick<Admission, 'slot'>;
  readonly limits: { readonly maxBodyBytes: number; readonly maxBodyValues: number; readonly arrival: ArrivalLimits };
}

export class McpAnswerer {
  readonly #options: McpEndpointOptions;
  readonly #path: string;
  readonly #servers: McpServers;
  readonly #handler: McpHttpHandler;

  /**
   * @param path of the endpoint
   * @throws Error if no tool can be made of an operation
   */
  constructor(options: McpEndpointOptions, path: string) {
    this.#options = options;
    this.#path = path;
    this.#servers = new McpServers(options);
    this.#handler = createMcpHandler(({ authInfo }) => this.#servers.create(exchangeOf(authInfo)), {
      // The server sends no notifications, so there is nothing to subscribe to.
      maxSubscriptions: 1,
      // The message quotes headers and members of the request.
      onerror: ({ name }) => options.logger.info({ error: name }, 'MCP message refused'),
    });
  }

  /** Answers a request, whatever its content is. */
  async answer(request: Authorised): Promise<void> {
    const { headers, query } = request;
    const refusal = checkCallers(headers, this.#options.callers);
    if (refusal !== null) return sendProblem(request, refusal, this.#path);
    const parameters = new URLSearchParams(query);
    const filter = readToolFilter(parameters, headers['x-switchyard-readonly'], this.#servers.resourceNames);
    if (E.isLeft(filter)) return sendProblem(request, filter.left, this.#path);
    const { maxBodyBytes: maxBytes, maxBodyValues, arrival } = this.#options.limits;
    const bytes = await readJsonBytes(request, { maxBytes, arrival });
    if (E.isLeft(bytes)) return sendProblem(request, bytes.left, this.#path);
    const parsed = await parseJsonObject(bytes.right, maxBodyValues);
    if (E.isLeft(parsed)) return send(request, jsonRpcError(rpcErrorOf(parsed.left)));
    const read = readMessage(parsed.right);
    if (E.isLeft(read)) return send(request, jsonRpcError(rpcErrorOf(read.left)));
    const { message, toolArguments } = read.right;
    // Clients of protocols without structured content read only text. These are also the clients that do not name
    // their protocol.
    const isOld = headers['mcp-protocol-version'] === undefined;
    const wantsWholeText = isOld || parameters.get('text') === 'whole';
    const inputFault = await faultOfArguments(bytes.right);
    const mcpRequest = { request, filter: filter.right, wantsWholeText, toolArguments, inputFault };
    const place = await this.#options.admission.slot(request.held, 'query answer');
    if (E.isLeft(place)) return sendProblem(request, place.left, this.#path);
    try {
      if (message.method === completeMethod) await this.#complete(request, mcpRequest, message);
      else await this.#serve(request, mcpRequest, message);
    } finally {
      place.right();
    }
  }

  /** Answers a completion in its key's turn, because one may read ten lists and clients ask with each letter. */
  async #complete(request: Authorised, mcpRequest: McpRequest, message: JsonObject): Promise<void> {
    const leave = await this.#options.admission.slot(request.held, 'completion', { owner: request.caller.keyId });
    if (E.isLeft(leave)) return sendProblem(request, leave.left, this.#path);
    try {
      await this.#serve(request, mcpRequest, message);
    } finally {
      leave.right();
    }
  }

  async #serve(request: Authorised, mcpRequest: McpRequest, message: JsonObject): Promise<void> {
    if (message.method === listenMethod) return send(request, jsonRpcError(nothingToListenTo(message.id)));
    const asked = new Request(`http://localhost${this.#path}`, {
      method: 'POST',
      headers: forwarded(request.headers),
      signal: request.held.left,
    });
    const { keyId: clientId, scopes } = request.caller;
    const authInfo = { token: '', clientId, scopes: [...scopes], extra: { mcpRequest } };
    const answered = await this.#handler.fetch(asked, { authInfo, parsedBody: message });
    await send(request, answered);
  }
}

const completeMethod = 'completion/complete';

const argumentsPointer = '/params/arguments';

/** Finds inexact integers in the arguments of a tool, which it names. */
async function faultOfArguments(bytes: Buffer): Promise<Failure | null> {
  const errors = await inexactIntegers(bytes);
  return numberNotExact(
    errors
      .filter(({ pointer }) => pointer.startsWith(`${argumentsPointer}/`))
      .map((error) => ({ ...error, pointer: error.pointer.slice(argumentsPointer.length) })),
  );
}

const listenMethod = 'subscriptions/listen';

function nothingToListenTo(id: unknown) {
  const message = 'Nothing is announced here, so there is nothing to listen to: read again instead.';
  return { status: 404, code: -32_601, message, id: typeof id === 'string' || typeof id === 'number' ? id : null };
}

/** The headers that the protocol reads. The API key is not among them. */
function forwarded(headers: Authorised['headers']): Headers {
  const names = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];
  const found = new Headers();
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') found.set(name, value);
  }
  return found;
}

function exchangeOf(authInfo: { readonly extra?: Record<string, unknown> } | undefined): McpRequest {
  return authInfo?.extra?.mcpRequest as McpRequest;
}

/** Sends the one message that every request has. */
async function send({ client }: Authorised, answered: Response): Promise<void> {
  const body = Buffer.from(await answered.arrayBuffer());
  const type = answered.headers.get('content-type');
  const headers = ['Cache-Control', 'no-store', ...(type === null ? [] : ['Content-Type', type])];
  client.send(answered.status, headers, body);
}

export interface JsonRpcError {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** The id of the message; null if it could not be read. */
  readonly id: string | number | null;
}

const parseError = -32_700;
const invalidRequest = -32_600;

/** The error for a body that is not a JSON object: invalid JSON, a batch, or JSON that is too deep. */
function rpcErrorOf({ code, detail, errors }: Failure): JsonRpcError {
  const isJson = code !== 'malformed-json' && code !== 'invalid-encoding';
  const where = (errors ?? []).map(({ pointer, message }) => `${pointer || 'The message'} ${message}.`).join(' ');
  const message = isJson ? `${where || detail} Send one message in each request.` : detail;
  return {
    status: isJson ? 400 : failures[code].status,
    code: isJson ? invalidRequest : parseError,
    message,
    id: null,
  };
}

function jsonRpcError({ status, code, message, id }: JsonRpcError): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status });
}
