import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from '#exchange/client.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { withoutByteOrderMark } from '#gateway/framing/foreign-json.ts';
import type { ReportedConsumption } from '#gateway/neutral/consumption.ts';
import type { ResponseTranslator } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import { contentOf, providerRequestIdField, providerRequestIdIn } from '#gateway/transport/transport.ts';

/** The head of a successful response from a provider. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Converts the body to OpenAI's form; null if it has that form. */
  readonly translator: ResponseTranslator | null;
  /** The name of the provider. */
  readonly provider: string;
  /** Removes the operator's secrets from errors inside of the answer; null if its provider has none. */
  readonly redactor: SecretRedactor | null;
  /** The catalogue's model, and the target that answers: `provider/model`. */
  readonly servedFrom: { readonly model: string; readonly target: string };
  /** Headers that name the target to the client, names and values in turn. */
  readonly servedBy: ReadonlyArray<string>;
  /** After which silence the client of a stream gets the head without content; 0 for never. */
  readonly earlyHeadMs: number;
  /**
   * Returns the header with the call's cost, name and value in turn; empty if it is not known. Null if the target has no
   * price, or if the key may not read usage.
   * @param reported what the provider has reported when the head is sent
   */
  readonly costHeader: ((reported: ReportedConsumption) => ReadonlyArray<string>) | null;
  readonly keeping: Keeping;
}

/** What is done with an answer before the client has it. If it rejects, the attempt fails. */
export interface Keeping {
  /**
   * Is done before the client has any byte of the answer but its head; null for nothing.
   * @param first the first events of a stream, or the whole answer
   * @returns why the client must not have it; null if it may
   */
  readonly beforeFirstByte: ((first: Buffer) => Promise<AttemptFailure | null>) | null;
  /**
   * Is done with a complete answer before the client has all of it; null for nothing.
   * @param last the whole answer, or the last events of a stream
   * @returns what the client gets in its place
   */
  readonly beforeLastByte: ((last: Buffer) => Promise<Buffer>) | null;
}

/**
 * Passes a call's answer to the client: whole, event by event, or byte by byte. A call has one for all its attempts.
 */
export interface ResponseHandler {
  readonly receive: (head: ResponseHead, attempt: AttemptControl) => BodyConsumer;
  /** Whether the client has received a part. Then the call cannot start again. */
  readonly hasBegun: boolean;
  /** Whether the client has the head of an answer, with or without a part of it. Missing if they come together. */
  readonly hasHead?: boolean;
  /** The text that the client has received; null if no other target may continue it. */
  readonly continuation: () => string | null;
  /** Ends an answer whose head was sent, in a way that clients cannot mistake for a complete answer. */
  readonly abort: (failure: AttemptFailure) => void;
  /** Whether the whole answer has arrived except for its usage, which the provider may still send. */
  readonly isAwaitingUsage: boolean;
  /**
   * Delivers what waits for `beforeLastByte` after a completed attempt. Missing if nothing waits. If it rejects, the
   * attempt has failed.
   */
  readonly deliver?: () => Promise<void>;
  /** Called once, when the call has ended. */
  readonly close?: () => void;
}

/** A few bytes may decompress to very many, which blocks the event loop. */
const maxDecompressedBytes = 16 * 1024 * 1024;

/** Returns the decompressed body of a held answer, without a byte order mark; null if it cannot be decompressed. */
export function heldContent({ headers }: ResponseHead, sent: Buffer): Buffer | null {
  const content = contentOf(headers, sent, maxDecompressedBytes);
  return content === null ? null : withoutByteOrderMark(content);
}

const isJsonType = /[/+]json\b/i;

/** Whether a provider says that its answer is JSON. */
export function isNamedJson({ headers }: Pick<ResponseHead, 'headers'>): boolean {
  return isJsonType.test(headers['content-type'] ?? '');
}

/** The content type of an answer that was read as JSON, whatever the provider calls it. */
export function jsonTypeOf(head: Pick<ResponseHead, 'headers'>): string {
  return isNamedJson(head) ? String(head.headers['content-type']) : 'application/json';
}

/** Writes a piece, and reads no more from the provider until the client has received it. */
export function writePaced(response: Client, piece: Buffer, attempt: AttemptControl): void {
  if (response.write(piece)) return;
  attempt.pause();
  response.onceDrained(() => attempt.resume());
}

/** The provider's headers that a client receives in addition to the content type. */
const visibleHeaders = ['content-language', 'openai-processing-ms', 'openai-version'];

/**
 * Returns the headers of an answer, names and values in turn.
 * @param reported what the provider has reported, from which the cost follows; null leaves the cost out
 */
export function createRelayedHeaders(
  head: ResponseHead,
  contentType: string,
  reported: ReportedConsumption | null = null,
): string[] {
  const type = isSendable(contentType) ? contentType : 'application/octet-stream';
  const requestId = providerRequestIdField(providerRequestIdIn(head.headers));
  const cost = (reported === null ? null : head.costHeader?.(reported)) ?? [];
  const fields = ['Content-Type', type, ...head.servedBy, ...requestId, ...cost];
  for (const name of visibleHeaders) copyHeader(fields, head, name);
  return fields;
}

/** Copies one of the provider's headers if the provider has sent it. */
export function copyHeader(fields: string[], { headers }: ResponseHead, name: string): void {
  const value = headers[name];
  if (typeof value === 'string' && isSendable(value)) fields.push(name, value);
}

/** Whether Node accepts a header value. It refuses some that providers send. */
function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
