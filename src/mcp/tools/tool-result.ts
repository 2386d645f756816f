import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AnyOperation } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { failures } from '#domain/failures.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { EncodedJson, isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { isAnswerObject } from './tool-schema.ts';

/** Structured content, and a short text that says what happened. */
export function successResult(operation: AnyOperation, result: OperationResult, wholeText: boolean): CallToolResult {
  const body = result.body instanceof EncodedJson ? (result.body.parse() as Json) : (result.body ?? null);
  const wasTried = isObject(body) && body.dryRun === true && operation.kind === 'command';
  const structuredContent = wasTried || isAnswerObject(operation) ? (body as JsonObject) : { result: body };
  const content = [textBlock(wasTried ? triedSummary(operation, body) : summaryOf(operation, result, body))];
  if (wholeText) content.push(textBlock(JSON.stringify(structuredContent)));
  return { content, structuredContent: structuredContent as Record<string, unknown>, _meta: metaOf(result) };
}

/**
 * The problem is in `_meta`, because clients validate structured content against the tool's schema even for failures.
 */
export function failureResult(failure: Failure, requestId: string): CallToolResult {
  const { status, title } = failures[failure.code];
  const problem = {
    ...{ code: failure.code, status, title, detail: failure.detail, requestId },
    ...(failure.errors === undefined ? {} : { errors: failure.errors }),
    ...(failure.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: failure.retryAfterSeconds }),
  };
  const lines = [
    `${failure.code} (${status}): ${title}. ${failure.detail}`,
    ...(failure.errors ?? []).map(({ pointer, message }) => `- ${pointer || 'The input'} ${message}`),
    adviceOf(failure, requestId),
  ];
  return { isError: true, content: [textBlock(lines.join('\n'))], _meta: { 'switchyard/problem': problem } };
}

function textBlock(text: string) {
  return { type: 'text' as const, text };
}

function metaOf({ revision, position }: OperationResult): Record<string, unknown> {
  return {
    ...(revision === undefined ? {} : { 'switchyard/revision': revision }),
    ...(position === undefined ? {} : { 'switchyard/position': position }),
  };
}

function summaryOf({ summary, kind }: AnyOperation, { revision, nextCursor }: OperationResult, body: Json): string {
  const parts = [kind === 'command' ? `Done: ${summary}.` : `${summary}.`];
  const items = itemsOf(body);
  if (items !== null) parts.push(`${items.length} ${items.length === 1 ? 'item' : 'items'}.`);
  if (nextCursor !== undefined) parts.push('There are more: call again with nextCursor as cursor.');
  if (isObject(body) && typeof body.id === 'string') parts.push(`Id ${body.id}.`);
  if (revision !== undefined) parts.push(`Revision ${revision}: send it as ifMatch to change exactly this.`);
  return parts.join(' ');
}

/** The summary of the events that it would append. */
function triedSummary({ summary }: AnyOperation, { events }: JsonObject): string {
  const sentences = (events as ReadonlyArray<JsonObject>).map((event) => String(event.summary));
  const would = sentences.length === 0 ? 'It would change nothing.' : `It would: ${sentences.join(' ')}`;
  return `Tried: ${summary}. Nothing was changed. ${would}`;
}

/** The items of the only array of the answer. */
function itemsOf(body: Json): ReadonlyArray<Json> | null {
  if (!isObject(body) || 'id' in body) return null;
  const arrays = Object.values(body).filter((member) => Array.isArray(member));
  const [only] = arrays;
  return arrays.length === 1 && only !== undefined ? (only as ReadonlyArray<Json>) : null;
}

function adviceOf({ code, retryAfterSeconds }: Failure, requestId: string): string {
  const { status } = failures[code];
  if (status === 429 || status === 503 || retryAfterSeconds !== undefined) {
    return `What to do: wait ${Math.max(1, Math.ceil(retryAfterSeconds ?? 1))} s, then make the same call again.`;
  }
  switch (status) {
    case 401:
    case 403:
      return 'What to do: use a key that may do this. The listed tools are those that this key may use.';
    case 404:
      return 'What to do: check the id. Lists show everything that this key can access.';
    case 409:
      return 'What to do: read the resource and remove what prevents the change, then call again.';
    case 412:
      return 'What to do: read the resource again, and send its revision as ifMatch.';
    case 413:
      return 'What to do: send less.';
    case 422:
      return 'What to do: correct the arguments, then call again.';
    default:
      return `What to do: give the operator the request id ${requestId}.`;
  }
}
