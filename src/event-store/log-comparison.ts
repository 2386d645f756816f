import type { LogMark, ReadOfLog } from '#domain/shared/log-mark.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { isChained } from './hash-chain.ts';
import type { LogPages } from './log-pages.ts';

/** The result of comparing a log with marks of what was read. */
export interface LogComparison {
  /** The newest mark, which the log no longer has; null if it still has it. */
  readonly lost: LogMark | null;
  /** The newest mark that the log has; null without one. */
  readonly common: LogMark | null;
}

/**
 * The newest marks that are compared. The newest one alone is not enough: events that were read while the log was replaced
 * may be of the new log, after some of the old one.
 */
const comparedMarks = 16;

/** How long a node of the server may be behind. After that, what it lacks counts as lost. */
export const defaultGraceMs = 10_000;
const askAgainMs = 200;
/** Maximum number of events after the newest mark that are read. */
const maxEvents = 1_000;

export interface ComparisonOptions {
  readonly pages: Pick<LogPages, 'eventAt' | 'readPage'>;
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Compares the log with what was read of it. Another event at the position of a mark counts immediately. An event that
 * is missing is asked for again, because the node that answers may only be behind.
 * @throws UnavailableError
 */
export async function compareLog(read: ReadOfLog, options: ComparisonOptions): Promise<LogComparison> {
  const { graceMs, signal } = options;
  const newest = read.marks.at(-1) ?? null;
  if (newest === null) return { lost: null, common: null };
  const until = clock.now() + graceMs;
  for (;;) {
    const found = await findRead(read, options);
    if (found === 'same') return { lost: null, common: newest };
    if (found === 'other' || clock.now() >= until || signal.aborted) break;
    await delay(askAgainMs, signal);
  }
  return { lost: newest, common: await newestHeld(read, options) };
}

/**
 * The log has the newest mark, another event at none of the others, and nothing new up to where it was read; `behind`
 * if it may only be late. An older mark may be missing: a scavenge removes what an operator has deleted.
 */
async function findRead({ marks, readTo }: ReadOfLog, { pages, signal }: ComparisonOptions) {
  const newest = marks.slice(-comparedMarks).toReversed();
  // At the same time: one after the other would take longer than the caller waits for a distant store.
  const ids = await Promise.all(newest.map(({ position }) => pages.eventAt(position)));
  for (const [age, mark] of newest.entries()) {
    const id = ids[age] ?? null;
    if (id === null && age === 0) return 'behind';
    if (id !== null && id !== mark.id) return 'other';
  }
  for (let after = marks.at(-1)?.position ?? 0; after < readTo && !signal.aborted; ) {
    const { events, position, isEnd } = await pages.readPage({ after, maxEvents, isFresh: true });
    if (events.some((event) => event.position <= readTo && isChained(event.stream))) return 'other';
    if (isEnd && position < readTo) return 'behind';
    after = position;
  }
  return 'same';
}

/** The newest mark up to which the log has no other event at a compared mark. */
async function newestHeld({ marks }: ReadOfLog, { pages }: ComparisonOptions): Promise<LogMark | null> {
  let held: LogMark | null = null;
  for (const [age, mark] of marks.toReversed().entries()) {
    const id = await pages.eventAt(mark.position);
    if (id === mark.id) held ??= mark;
    else if (id !== null) held = null;
    if (held !== null && age >= comparedMarks - 1) return held;
  }
  return held;
}
