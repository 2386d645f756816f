import { type Failure, failures } from '#domain/shared/failure.ts';

/** Why a message was not answered, as JSON-RPC says it. */
export interface JsonRpcError {
  /** Of the HTTP response. */
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** Of the message; null where it could not be read. */
  readonly id: string | number | null;
}

const parseError = -32_700;
const invalidRequest = -32_600;

/** The error of a body that is no JSON object: no JSON at all, a batch, or too deep. */
export function rpcErrorOf({ code, detail, errors }: Failure): JsonRpcError {
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

/** The HTTP response that holds an error. */
export function jsonRpcError({ status, code, message, id }: JsonRpcError): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status });
}
