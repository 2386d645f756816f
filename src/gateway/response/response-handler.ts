import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from '#exchange/client.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { withoutByteOrderMark } from '#gateway/framing/foreign-json.ts';
import type { ReportedConsumption } from '#gateway/neutral/consumption.ts';
import type { ResponseTranslator } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import { contentOf, providerRequestIdField, providerRequestIdIn } from '#gateway/transport/transport.ts';

export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The translator; null if the body has OpenAI's form. */
  readonly translator: ResponseTranslator | null;
  readonly provider: string;
  /** The redactor for errors inside of the answer; null without secrets. */
  readonly redactor: SecretRedactor | null;
  /** The catalogue's model, and `provider/model`. */
  readonly servedFrom: { readonly model: string; readonly target: string };
  /** Headers that name the target to the client, as alternating names and values. */
  readonly servedBy: ReadonlyArray<string>;
  /** After this silence the client of a stream gets the head without content; 0 for never. */
  readonly earlyHeadMs: number;
  /**
   * The name and value of the header with the cost; empty if the cost is not known. Null if the target has no price, or
   * if the key may not read usage.
   * @param reported by the provider when the head is sent
   */
  readonly costHeader: ((reported: ReportedConsumption) => ReadonlyArray<string>) | null;
  readonly keeping: Keeping;
}

/** Work that is done before the client has the answer. If it rejects, the attempt fails. */
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

/** Handles responses: whole, event by event, or byte by byte. A call has one handler for all its attempts. */
export interface ResponseHandler {
  readonly receive: (head: ResponseHead, attempt: AttemptControl) => BodyConsumer;
  /** True if the client has received a part: the call cannot start again. */
  readonly hasBegun: boolean;
  /** True if the client has the head of an answer, with or without a part of it. Missing if they come together. */
  readonly hasHead?: boolean;
  /** The text that the client has received; null if no other target may continue it. */
  readonly continuation: () => string | null;
  /** Ends an answer whose head was sent, in a way that clients cannot mistake for a complete answer. */
  readonly abort: (failure: AttemptFailure) => void;
  /** True if the answer has arrived except for its usage, which the provider may still send. */
  readonly isAwaitingUsage: boolean;
  /**
   * Delivers, after a completed attempt, what waits for `beforeLastByte`. Missing if nothing waits. If it rejects, the
   * attempt has failed.
   */
  readonly deliver?: () => Promise<void>;
  /** Called once, when the call has ended. */
  readonly close?: () => void;
}

/** Maximum size after decompression. A few bytes may decompress to very many, which blocks the event loop. */
const maxDecompressedBytes = 16 * 1024 * 1024;

/** The decompressed content, without a byte order mark; null if it cannot be decompressed. */
export function heldContent({ headers }: ResponseHead, sent: Buffer): Buffer | null {
  const content = contentOf(headers, sent, maxDecompressedBytes);
  return content === null ? null : withoutByteOrderMark(content);
}

const isJsonType = /[/+]json\b/i;

export function isNamedJson({ headers }: Pick<ResponseHead, 'headers'>): boolean {
  return isJsonType.test(headers['content-type'] ?? '');
}

/** The type of an answer that was read as JSON, whatever the provider calls it. */
export function jsonTypeOf(head: Pick<ResponseHead, 'headers'>): string {
  return isNamedJson(head) ? String(head.headers['content-type']) : 'application/json';
}

/** Writes a piece. The provider is read further when the client has received it. */
export function writePaced(response: Client, piece: Buffer, attempt: AttemptControl): void {
  if (response.write(piece)) return;
  attempt.pause();
  response.onceDrained(() => attempt.resume());
}

/** Headers of the provider that clients see in addition to the content type. */
const visibleHeaders = ['content-language', 'openai-processing-ms', 'openai-version'];

/**
 * Creates the headers as alternating names and values.
 * @param reported from it the cost follows; null leaves the cost out
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

export function copyHeader(fields: string[], { headers }: ResponseHead, name: string): void {
  const value = headers[name];
  if (typeof value === 'string' && isSendable(value)) fields.push(name, value);
}

/** True for a header that Node sends. It refuses some that providers send. */
function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
