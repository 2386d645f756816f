import { unknownId } from '#test/e2e/support/expect.ts';
import { bytesBeyondRoom, bytesBeyondSize } from './asking-project.ts';
import { type Address, type ReceivedAnswer, send } from './send.ts';

/** What a request can be refused for, and `replay`: it is answered as before. */
export type Reason =
  | 'key'
  | 'rate'
  | 'place'
  | 'answers'
  | 'path'
  | 'reach'
  | 'scope'
  | 'calls'
  | 'header'
  | 'media'
  | 'size'
  | 'bytes'
  | 'syntax'
  | 'input'
  | 'model'
  | 'remembered'
  | 'replay'
  | 'deleted'
  | 'revision'
  | 'decision';

/** A request that earns the refusals for these reasons, as far as they are not in the state of its project or node. */
export interface Asked {
  readonly reasons: ReadonlySet<Reason>;
  readonly key: string;
  readonly flowId: string;
  /** Names a flow that no flow of the project is, or that is out of reach. */
  readonly otherFlowId: string;
  /** The request that comes before one that is remembered has none of its faults. */
  readonly isFirst?: boolean;
}

/** The status and the code of an answer: `404 flow-not-found`, `200 done`. */
export type Answer = string;

/** Sends a request in its own way. */
export type Caller = (asked: Asked) => Promise<Answer>;

const idempotencyKey = 'the-same';

/** `PATCH /v1/flows/{flowId}` over HTTP, or on the control socket. */
export const rest =
  (address: Address): Caller =>
  async (asked) => {
    const { reasons, key, isFirst = false } = asked;
    const isRemembered = reasons.has('remembered') || reasons.has('replay');
    const answer = await send(address, {
      method: reasons.has('path') && !isFirst ? 'PUT' : 'PATCH',
      path: `/v1/flows/${flowIn(asked)}`,
      headers: {
        'x-api-key': key,
        'content-type': reasons.has('media') && !isFirst ? 'text/plain' : 'application/json',
        ...(isRemembered ? { 'idempotency-key': idempotencyKey } : {}),
        ...(reasons.has('revision') && !isFirst ? { 'if-match': '"99"' } : {}),
        ...(reasons.has('header') && !isFirst ? { 'switchyard-min-position': 'soon' } : {}),
      },
      body: padded(changeIn(asked), isFirst ? new Set() : reasons),
    });
    return answerOf(answer);
  };

/** `POST /v1/chat/completions`. */
export const chat =
  (address: Address): Caller =>
  async ({ reasons, key }) => {
    const isPath = reasons.has('path');
    const call = { model: modelIn(reasons), ...(reasons.has('input') ? {} : { messages }) };
    return answerOf(
      await send(address, {
        method: isPath ? 'PUT' : 'POST',
        path: '/v1/chat/completions',
        headers: { 'x-api-key': key, 'content-type': reasons.has('media') ? 'text/plain' : 'application/json' },
        body: padded(call, reasons),
      }),
    );
  };

/** The tool `update_flow` of MCP. */
export const mcp =
  (address: Address): Caller =>
  async (asked) => {
    const { reasons, key, isFirst = false } = asked;
    const given = {
      ...changeIn(asked),
      flowId: reasons.has('path') && !isFirst ? 'no-id' : flowIn(asked),
      ...(reasons.has('remembered') || reasons.has('replay') ? { idempotencyKey } : {}),
      ...(reasons.has('revision') && !isFirst ? { ifMatch: 99 } : {}),
      ...(reasons.has('header') && !isFirst ? { dryRun: 'perhaps' } : {}),
    };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'update_flow', arguments: given } };
    return answerOf(
      await send(address, {
        method: 'POST',
        path: '/mcp',
        headers: {
          'x-api-key': key,
          accept: 'application/json, text/event-stream',
          'content-type': reasons.has('media') && !isFirst ? 'text/plain' : 'application/json',
          'mcp-protocol-version': '2025-11-25',
        },
        body: padded(message, isFirst ? new Set() : reasons),
      }),
    );
  };

const messages = [{ role: 'user', content: 'Hello' }];

const modelIn = (reasons: ReadonlySet<Reason>) => (reasons.has('model') ? 'unknown' : 'sandbox');

/** A line of a batch of chats. */
export function lineOf(id: string, reasons: ReadonlySet<Reason>): string {
  const call = { model: modelIn(reasons), messages, ...(reasons.has('input') ? { stream: true } : {}) };
  const line = JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions' });
  return `${line.slice(0, -1)},"body":${padded(call, reasons)}}`;
}

/** The code of an answer to a call of a model. */
export function codeOfError(body: { readonly error?: { readonly code: string } }): string {
  return body.error?.code.replaceAll('_', '-') ?? 'done';
}

function flowIn({ reasons, flowId, otherFlowId, isFirst = false }: Asked): string {
  return reasons.has('reach') && !isFirst ? otherFlowId : flowId;
}

/** A change of a flow. One that is sent again after it is remembered has another name, unless it is to be replayed. */
function changeIn({ reasons, isFirst = false }: Asked): object {
  const name = reasons.has('remembered') && isFirst ? 'First' : 'Second';
  if (isFirst) return { name };
  return {
    name: reasons.has('input') ? '' : name,
    ...(reasons.has('decision') ? { agentProfileId: unknownId } : {}),
  };
}

/** Pads an object with spaces inside of it to the size that a reason needs. */
function padded(value: object, reasons: ReadonlySet<Reason>): string {
  const text = JSON.stringify(value).slice(0, reasons.has('syntax') ? -1 : undefined);
  const bytes = reasons.has('size') ? bytesBeyondSize : reasons.has('bytes') ? bytesBeyondRoom : 0;
  return `{${' '.repeat(bytes)}${text.slice(1)}`;
}

// biome-ignore lint/suspicious/noExplicitAny: each caller has a form of its own.
type AnyForm = any;

function answerOf({ status, text }: ReceivedAnswer): Answer {
  const body: AnyForm = JSON.parse(text.replace(/^event: message\ndata: /, ''));
  const problem = body.result?._meta?.['switchyard/problem'];
  if (problem !== undefined) return `${problem.status} ${problem.code}`;
  const code = body.code ?? body.error?.code ?? 'done';
  return `${status} ${String(code).replaceAll('_', '-')}`;
}
