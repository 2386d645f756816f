import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import * as E from 'fp-ts/lib/Either.js';
import type { OperationRoute } from '#application/operations/registry.ts';
import { type Failure, failures } from '#domain/shared/failure.ts';
import type { AskOperation } from '#mcp/server/ask-operation.ts';
import type { McpExchange } from '#mcp/server/mcp-exchange.ts';
import { jsonTextOf } from '#shared/json/encoded-json.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { findResource, type McpResource, resourceType } from './resource-catalogue.ts';

/**
 * Reads the resource at a URI.
 * @param visible the resources that the caller may read
 * @throws ResourceNotFoundError for a resource that does not exist or is out of reach; ProtocolError for any other
 *   refusal
 */
export async function readResource(
  ask: AskOperation,
  exchange: McpExchange,
  visible: ReadonlyArray<McpResource>,
  uri: string,
): Promise<ReadResourceResult> {
  const named = findResource(visible, uri);
  if (named === null) throw new ResourceNotFoundError(uri);
  const text = await readText(ask, exchange, named.resource.tool.route, named.input, uri);
  return { contents: [{ uri, mimeType: resourceType, text }] };
}

/** Runs a query, and returns its answer as JSON. @throws as `readResource` does */
export async function readText(
  ask: AskOperation,
  exchange: McpExchange,
  route: OperationRoute,
  input: JsonObject,
  uri: string,
): Promise<string> {
  const answered = await ask(exchange, route, input);
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
