import type { JsonObject } from '#shared/json/json.ts';
import type { Tokens } from './consumption.ts';
import type { Signature } from './conversation.ts';
import type { ProviderError } from './provider-report.ts';

export type FinishReason = 'stop' | 'stop-sequence' | 'length' | 'tool-calls' | 'filtered';

/**
 * An event of an answer in the form of no protocol. A part begins with its first event and ends with the first event of
 * another part.
 */
export type AnswerEvent =
  | { readonly kind: 'started'; readonly id: string | null; readonly model: string | null }
  /** A part has begun, and nothing of it has come. */
  | { readonly kind: 'part-start' }
  /**
   * The provider says that a part is whole.
   * @property index of a call of a tool; null for any other part, which is the latest one
   */
  | { readonly kind: 'part-end'; readonly index: number | null }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** The end of a part of reasoning. */
  | { readonly kind: 'signature'; readonly signature: Signature }
  /**
   * The beginning of a call.
   * @property index counts the calls of an answer
   * @property state what the provider needs back with the call; null for nothing
   */
  | {
      readonly kind: 'tool-call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly state: Signature | null;
    }
  /** A piece of a call's arguments. */
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string }
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly stopSequence: string | null }
  /** All tokens so far: a later report replaces an earlier one. */
  | { readonly kind: 'usage'; readonly tokens: Tokens }
  | { readonly kind: 'error'; readonly error: ProviderError }
  /** The mark after the last event. */
  | { readonly kind: 'end' }
  | { readonly kind: 'malformed' }
  /** A part that cannot be translated. The answer may still pass as it comes. */
  | { readonly kind: 'unreadable' }
  /** The event is more than the gateway parses. */
  | { readonly kind: 'too-large' };

/** Maximum number of calls in an answer. Each is kept until its end. */
export const maxToolCalls = 1_000;

/** Reads one stream. It never throws: what it cannot read is `malformed`. */
export interface AnswerReader {
  /** @param data that of a server-sent event; null without any */
  readonly read: (data: string | null) => ReadonlyArray<AnswerEvent>;
  readonly keptBytes: number;
}

export interface AnswerWriter {
  /** Writes server-sent events; empty if the event changes nothing that the client sees. */
  readonly write: (event: AnswerEvent) => string;
  readonly keptBytes: number;
  /** Writes the server-sent events at the end of a complete answer. */
  readonly end: () => string;
  /** Whether long texts follow what was returned so far. Missing if never. */
  readonly hasMore?: boolean;
  readonly more?: () => string;
  /** Writes an error; missing unless it depends on the events before. */
  readonly errorEvent?: ((error: JsonObject) => string) | undefined;
}
