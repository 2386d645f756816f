import type * as t from 'io-ts';
import { optional } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';
import { type StrictObjectOf, strictObject } from '#shared/codecs/object.ts';

/** Time limits in milliseconds. */
export interface Timeouts {
  /** The time until there is a connection, including the wait for a free one. */
  readonly connectMs: number;
  /** The time from the request sent to the answer's headers. */
  readonly headersMs: number;
  /** The time from the request sent to the first content of the answer. */
  readonly firstContentMs: number;
  /** The time between two chunks after the first content. */
  readonly idleMs: number;
  /** The time from the caller's complete request to the end of the answer, including all attempts and waits. */
  readonly totalMs: number;
  /** The time from the headers of a stream of text to the head that the client gets without content; 0 for never. */
  readonly earlyHeadMs: number;
}

/** The time limits for a configuration without its own. */
export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
  earlyHeadMs: 5_000,
};

const maxTimeoutMs = 24 * 60 * 60 * 1_000;
const milliseconds = integer(1, maxTimeoutMs);

/** The time limits in the configuration. A missing one is the provider's, or else that of `defaultTimeouts`. */
export const Timeouts = strictObject({
  connectMs: optional(milliseconds),
  headersMs: optional(milliseconds),
  firstContentMs: optional(milliseconds),
  idleMs: optional(milliseconds),
  totalMs: optional(milliseconds),
  earlyHeadMs: optional(integer(0, maxTimeoutMs)),
});

export type StatedTimeouts = StrictObjectOf<{ [Name in keyof Timeouts]: t.Type<number | undefined> }>;
