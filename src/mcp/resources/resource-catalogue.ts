import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import * as E from 'fp-ts/lib/Either.js';
import { type OperationRoute, pathParameters } from '#application/operations/registry.ts';
import { failures } from '#domain/failures.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { AskOperation } from '#mcp/request/ask-operation.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import type { OperationTool } from '#mcp/tools/tool-catalogue.ts';
import { type JsonObject, jsonTextOf } from '#shared/json/json.ts';

/** The answer of a query at a URI. */
export interface McpResource {
  /** The tool, for its scope and the filter of the connection. */
  readonly tool: OperationTool;
  /** Such as `switchyard://flows/{flowId}{?asOf}`: the query's path without `/v1`, and its query parameters. */
  readonly uriTemplate: string;
  readonly parameters: ReadonlyArray<string>;
  readonly segments: ReadonlyArray<string>;
  readonly title: string;
  readonly description: string;
}

const scheme = 'switchyard://';

export const resourceType = 'application/json';

/** The catalogue has a resource for every query in the table of operations. */
export function createResourceCatalogue(tools: ReadonlyArray<OperationTool>): ReadonlyArray<McpResource> {
  return tools.filter(({ isReadOnly }) => isReadOnly).map(resourceOf);
}

function resourceOf(tool: OperationTool): McpResource {
  const { operation, members: inputs } = tool.route;
  const parameters = pathParameters(operation.http.path);
  const queried = [...inputs].filter((name) => !parameters.includes(name));
  const path = pathWithin(tool.route);
  const template = path.replace(/:(\w+)/g, '{$1}');
  return {
    tool,
    uriTemplate: `${scheme}${template}${queried.length === 0 ? '' : `{?${queried.join(',')}}`}`,
    parameters,
    segments: path.split('/'),
    title: operation.summary,
    description: tool.tool.description ?? operation.summary,
  };
}

/** `/v1/flows/:flowId` → `flows/:flowId`. */
function pathWithin({ operation }: OperationRoute): string {
  return operation.http.path.replace(/^\/v1\//, '');
}

export function fixedUri({ segments }: McpResource): string {
  return scheme + segments.join('/');
}

export function uriOf({ segments }: McpResource, parameters: Readonly<Record<string, string>>): string {
  return scheme + segments.map((segment) => filled(segment, parameters)).join('/');
}

function filled(segment: string, parameters: Readonly<Record<string, string>>): string {
  return segment.startsWith(':') ? encodeURIComponent(parameters[segment.slice(1)] ?? '') : segment;
}

export interface NamedResource {
  readonly resource: McpResource;
  readonly input: JsonObject;
}

export function findResource(catalogue: ReadonlyArray<McpResource>, uri: string): NamedResource | null {
  if (!uri.startsWith(scheme)) return null;
  const mark = uri.indexOf('?');
  const path = uri.slice(scheme.length, mark === -1 ? undefined : mark);
  const given = decodedSegments(path);
  const query = Object.fromEntries(new URLSearchParams(mark === -1 ? '' : uri.slice(mark + 1)));
  if (given === null) return null;
  for (const resource of catalogue) {
    const parameters = matched(resource, given);
    if (parameters !== null) return { resource, input: { ...query, ...parameters } };
  }
  return null;
}

function decodedSegments(path: string): ReadonlyArray<string> | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

function matched({ segments }: McpResource, given: ReadonlyArray<string>): Readonly<Record<string, string>> | null {
  if (given.length !== segments.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith(':')) parameters[segment.slice(1)] = value;
    else if (segment !== value) return null;
  }
  return parameters;
}

/**
 * @param visible the resources that the caller may read
 * @throws ResourceNotFoundError for a resource that does not exist or is out of reach; ProtocolError for any other
 *   refusal
 */
export async function readResource(
  ask: AskOperation,
  mcpRequest: McpRequest,
  visible: ReadonlyArray<McpResource>,
  uri: string,
): Promise<ReadResourceResult> {
  const named = findResource(visible, uri);
  if (named === null) throw new ResourceNotFoundError(uri);
  const text = await readJsonText(ask, mcpRequest, named.resource.tool.route, named.input, uri);
  return { contents: [{ uri, mimeType: resourceType, text }] };
}

/** The answer of a query, as JSON. @throws as `readResource` does */
export async function readJsonText(
  ask: AskOperation,
  mcpRequest: McpRequest,
  route: OperationRoute,
  input: JsonObject,
  uri: string,
): Promise<string> {
  const answered = await ask(mcpRequest, route, input);
  if (E.isLeft(answered)) throw refusalOf(answered.left, uri);
  return jsonTextOf(answered.right.body ?? null);
}

function refusalOf(failure: Failure, uri: string): ProtocolError {
  const { status, title } = failures[failure.code];
  if (status === 404) return new ResourceNotFoundError(uri, `${title}: ${uri}`);
  const code = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  const { code: problem, detail, errors, retryAfterSeconds } = failure;
  return new ProtocolError(code, `${problem}: ${detail}`, {
    ...{ code: problem, status, detail },
    ...(errors === undefined ? {} : { errors }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
