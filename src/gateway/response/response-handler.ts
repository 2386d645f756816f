import type { IncomingHttpHeaders } from 'node:http';
import type { Tokens } from '#gateway/chat/chat-event.ts';
import type { ResponseTranslator } from '#gateway/providers/provider.ts';
import type { AttemptFailure } from '#gateway/relay/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/relay/body-consumer.ts';
import { providerRequestIdField, providerRequestIdIn } from '#gateway/transport/provider-request-id.ts';

/** The head of a successful response from a provider. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Turns the body into OpenAI's form; null where it is in that form. */
  readonly translator: ResponseTranslator | null;
  /** Headers that name the target to the client, names and values in turn. */
  readonly servedBy: ReadonlyArray<string>;
}

/** Passes a call's answer to the client: whole, event by event, or byte by byte. One for a call and all its attempts. */
export interface ResponseHandler {
  readonly receive: (head: ResponseHead, attempt: AttemptControl) => BodyConsumer;
  /** Whether the client has received a part: the call cannot start over then. */
  readonly hasBegun: boolean;
  /** The text that the client has received, where another target may continue it; else null. */
  readonly continuation: () => string | null;
  /** Ends an answer that has begun, in a way that clients cannot mistake for a complete answer. */
  readonly abort: (failure: AttemptFailure) => void;
  readonly tokens: Tokens | null;
  /** Whether all of the answer has come but its usage, which the provider may still send. */
  readonly isAwaitingUsage: boolean;
  /** The length of the transcribed audio in seconds, where the answer states it. */
  readonly audioSeconds?: number | null;
}

/** The provider's headers that a client receives, beside the content type. */
const visibleHeaders = ['content-language', 'openai-processing-ms', 'openai-version'];

/** The headers of an answer, names and values in turn. */
export function createResponseHeaders(head: ResponseHead, contentType: string): string[] {
  const fields = ['Content-Type', isSendable(contentType) ? contentType : 'application/octet-stream', ...head.servedBy];
  for (const name of visibleHeaders) copyHeader(fields, head, name);
  fields.push(...providerRequestIdField(providerRequestIdIn(head.headers)));
  return fields;
}

/** Copies one of the provider's headers, where the provider sent it. */
export function copyHeader(fields: string[], { headers }: ResponseHead, name: string): void {
  const value = headers[name];
  if (typeof value === 'string' && isSendable(value)) fields.push(name, value);
}

/** Whether Node sends a header value: it refuses some that providers send. */
function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
