import type { StoredEvent } from '#event-store/event-store.ts';
import type { BrokenLink } from '#event-store/hash-chain.ts';

/**
 * A log cannot be moved or verified until a person does something. The message is one line: what is wrong, where, and
 * what to do.
 */
export class LogError extends Error {
  override readonly name = 'LogError';
}

/** A person has interrupted the work. Finished work stays. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

export function describeBroken({ stream, revision, id, expectedRevision, reason }: BrokenLink): string {
  if (reason === 'events-missing' && expectedRevision === 0)
    return `${stream} begins at revision ${revision}, event ${id}: its first events are missing`;
  if (reason === 'events-missing')
    return `${stream} has revision ${revision}, event ${id}, in place of ${expectedRevision}: events between are missing`;
  return `the hash chain is broken at revision ${revision} of ${stream}, event ${id}: ${reasons[reason]}`;
}

/**
 * Describes an event that does not decode, although its chain is intact.
 * @param fault what is wrong, with its pointer
 */
export function describeUndecodable({ stream, revision, id, type }: StoredEvent, fault: string): string {
  return `revision ${revision} of ${stream}, event ${id} (${type}), cannot be decoded: ${fault}`;
}

const reasons: Readonly<Record<Exclude<BrokenLink['reason'], 'events-missing'>, string>> = {
  'revision-out-of-order': "it does not follow the stream's event before it",
  'previous-hash-differs': 'it names another event before it than the one that is there',
  'hash-differs': 'it is not what was sealed',
  unreadable: 'its data or metadata cannot be read',
};
