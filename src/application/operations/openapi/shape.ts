import type { AnyOperation } from '#application/operations/operation.ts';

/** Whether requests of an operation carry a body. */
export function takesBody({ http }: AnyOperation): boolean {
  return http.method === 'post' || http.method === 'put' || http.method === 'patch';
}

/** Whether an operation appends events. */
export function isWriting({ kind }: AnyOperation): boolean {
  return kind === 'command' || kind === 'upload';
}

/** The media type of an operation's body; null if there is none. */
export function bodyType(operation: AnyOperation): string | null {
  if (!takesBody(operation)) return null;
  return 'consumes' in operation ? operation.consumes : 'application/json';
}

/** Whether a provider answers, whose part of the interface may differ. */
export function asksProvider(operation: AnyOperation): boolean {
  return operation.kind === 'relay' && takesBody(operation);
}
