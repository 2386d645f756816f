import type * as t from 'io-ts';
import { optional } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';
import { type StrictObjectOf, strictObject } from '#shared/codecs/object.ts';

/** In milliseconds. */
export interface Timeouts {
  /** Until there is a connection, including the wait for a free one. */
  readonly connectMs: number;
  /** From the request sent to the answer's headers. */
  readonly headersMs: number;
  /** From the request sent to the first content of the answer. */
  readonly firstContentMs: number;
  /** Between two chunks after the first content. */
  readonly idleMs: number;
  /** From the caller's complete request to the end of the answer, including all attempts and waits. */
  readonly totalMs: number;
  /** From the headers of a stream of text to the head that the client gets without content; 0 for never. */
  readonly earlyHeadMs: number;
}

/** For a configuration without its own. */
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

/** In the configuration. A missing one is the provider's, or else that of `defaultTimeouts`. */
export const Timeouts = strictObject({
  connectMs: optional(milliseconds),
  headersMs: optional(milliseconds),
  firstContentMs: optional(milliseconds),
  idleMs: optional(milliseconds),
  totalMs: optional(milliseconds),
  earlyHeadMs: optional(integer(0, maxTimeoutMs)),
});

export type StatedTimeouts = StrictObjectOf<{ [Name in keyof Timeouts]: t.Type<number | undefined> }>;
