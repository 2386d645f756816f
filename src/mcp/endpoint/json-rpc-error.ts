import { type Failure, failures } from '#domain/shared/failure.ts';

/** A JSON-RPC error: why a message was not answered. */
export interface JsonRpcError {
  /** The status of the HTTP response. */
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** The id of the message; null if it could not be read. */
  readonly id: string | number | null;
}

const parseError = -32_700;
const invalidRequest = -32_600;

/** Returns the error for a body that is not a JSON object: invalid JSON, a batch, or JSON that is too deep. */
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

/** Returns the HTTP response for an error. */
export function jsonRpcError({ status, code, message, id }: JsonRpcError): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status });
}
