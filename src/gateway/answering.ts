import type { IncomingHttpHeaders } from 'node:http';
import type { AttemptControl, BodyConsumer } from './attempt.ts';
import type { AttemptFailure } from './attempt-failure.ts';
import type { Tokens } from './chat-event.ts';
import type { ResponseTranslator } from './provider.ts';
import { providerRequestIdField, providerRequestIdIn } from './provider-request-id.ts';

/** A successful answer as it begins. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** How to turn it into OpenAI's form; null where it is in that form. */
  readonly translator: ResponseTranslator | null;
  /** What tells the client who served it, names and values in turn. */
  readonly servedBy: ReadonlyArray<string>;
}

/** How answers reach the client: whole, event by event, byte by byte. One for a call, through all its attempts. */
export interface ResponseHandler {
  readonly receive: (head: ResponseHead, attempt: AttemptControl) => BodyConsumer;
  /** Whether the client has been sent a part: nothing can be tried anew then. */
  readonly hasBegun: boolean;
  /** The text that the client has, where another target may go on from it; else null. */
  readonly continuation: () => string | null;
  /** Ends an answer that has begun, so that nobody takes it for a whole one. */
  readonly abort: (failure: AttemptFailure) => void;
  readonly tokens: Tokens | null;
  /** Whether all of the answer has come but its usage, which the provider may still send. */
  readonly isAwaitingUsage: boolean;
  /** The length of the audio that was transcribed, where the answer tells it. */
  readonly audioSeconds?: number | null;
}

/** The provider's headers that a client gets to see, beside the content's type. */
const visibleHeaders = ['content-language', 'openai-processing-ms', 'openai-version'];

/** The headers of an answer in the names in which they go out, names and values in turn. */
export function createResponseHeaders(head: ResponseHead, contentType: string): string[] {
  const fields = ['Content-Type', isSendable(contentType) ? contentType : 'application/octet-stream', ...head.servedBy];
  for (const name of visibleHeaders) copyHeader(fields, head, name);
  fields.push(...providerRequestIdField(providerRequestIdIn(head.headers)));
  return fields;
}

/** Hands one of the provider's headers on, where it is there. */
export function copyHeader(fields: string[], { headers }: ResponseHead, name: string): void {
  const value = headers[name];
  if (typeof value === 'string' && isSendable(value)) fields.push(name, value);
}

/** Node refuses to send what a provider may well have sent. */
function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
