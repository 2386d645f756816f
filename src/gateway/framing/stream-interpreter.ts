import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { ProviderError } from '#gateway/neutral/provider-report.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** How the stream that passes an event on handles it. */
export type EventClassification =
  /** Nothing but a sign of life: a ping, a comment, an empty piece. It may come any number of times before the content. */
  | { readonly kind: 'empty' }
  /**
   * The event has no content, but is more than a sign of life: the beginning of an answer or of a part, an event of an
   * unknown type.
   */
  | { readonly kind: 'no-content' }
  | { readonly kind: 'content' }
  /** The event is removed, because only the gateway requested it. */
  | { readonly kind: 'gateway-only' }
  /** The mark that ends the stream. */
  | { readonly kind: 'end' }
  | { readonly kind: 'malformed' }
  /** The event is more than the gateway parses or keeps. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'error'; readonly error: ProviderError };

/** Classifications that say nothing more than their kind. Most events have one of them, so each is made once. */
export const classifications = {
  empty: { kind: 'empty' },
  noContent: { kind: 'no-content' },
  content: { kind: 'content' },
  gatewayOnly: { kind: 'gateway-only' },
  end: { kind: 'end' },
  malformed: { kind: 'malformed' },
  tooLarge: { kind: 'too-large' },
} as const satisfies Readonly<Record<string, EventClassification>>;

/** Maximum size of kept texts. An answer's end repeats them several times. */
export const maxKeptBytes = 4 * 1024 * 1024;

/** The bytes of a text in addition to its own. */
const bytesPerText = 32;

export function keptBytesOf(text: string): number {
  return text.length + bytesPerText;
}

/** Interprets the stream of one attempt. Never throws. */
export interface StreamInterpreter {
  readonly classify: (data: string | null) => EventClassification;
  /**
   * Returns what a large event is whose end has not come, so that it passes in pieces; null if its end may decide, or if
   * it does not pass as it comes. Missing for the same. It is classified when its end has come, by its outline.
   * @param beginning its data so far, as the outline of JSON: see `JsonOutline`
   */
  readonly peek?: (beginning: string) => 'content' | 'no-content' | null;
  /** Whether a part of the answer has begun, with or without content. */
  readonly hasBegun: boolean;
  /** Whether the whole answer has arrived. */
  readonly isFinished: boolean;
  /** Whether the answer is whole if the provider's end mark follows. */
  readonly canEnd: boolean;
  /** What to write if a finished stream ended without its mark; empty if the format has none. */
  readonly finish: () => string;
  readonly tokens: Tokens | null;
  readonly keptBytes: number;
  /** Maximum of kept bytes: large events add theirs. Missing for `maxKeptBytes`. */
  readonly maxKeptBytes?: number;
  /** The text so far if it is the whole content; else null. */
  readonly text: string | null;
  /**
   * What the latest event became for the client, if the client speaks another protocol than the provider. Missing if
   * the events pass as they come.
   */
  readonly translated?: () => string;
  /** Whether the events, or the end, have become more than was written so far. */
  readonly hasMore?: boolean;
  readonly classifyMore?: () => EventClassification;
  /** Begins the end, as `finish` does, but with long texts still to come: see `hasMore`. */
  readonly beginEnd?: () => string;
  /** Writes an error; missing unless it depends on the events before. */
  readonly errorEvent?: ((error: JsonObject) => string) | undefined;
}
