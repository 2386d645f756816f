import type { BrokenLink, StoredEvent } from '#event-store/hash-chain.ts';

/**
 * A log cannot be moved or does not verify, and a person must do something about it. The message is one clear line: what
 * is wrong, where, and what to do.
 */
export class LogError extends Error {
  override readonly name = 'LogError';
}

/** A person asked for the end; what was done stays. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
}

/** A broken link in words. */
export function describeBroken({ stream, revision, id, reason }: BrokenLink): string {
  return `the hash chain is broken at revision ${revision} of ${stream}, event ${id}: ${reasons[reason]}`;
}

/** An event whose chain holds and that does not decode, in words. @param fault what is wrong, with its pointer */
export function describeUndecodable({ stream, revision, id, type }: StoredEvent, fault: string): string {
  return `revision ${revision} of ${stream}, event ${id} (${type}), cannot be decoded: ${fault}`;
}

const reasons: Readonly<Record<BrokenLink['reason'], string>> = {
  'revision-out-of-order': "it does not follow the stream's event before it",
  'previous-hash-differs': 'it names another event before it than the one that is there',
  'hash-differs': 'it is not what was sealed',
  unreadable: 'its data or metadata cannot be read',
};
