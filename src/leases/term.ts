import { PortHandle } from '#shared/async/port-handle.ts';
import { endsInTime } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { TermLeftError } from '#shared/errors/fenced-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/**
 * The time in which one node does a piece of work. The stores refuse the writes of a term after they have seen a newer
 * token, because a frozen node cannot know that another node has taken over its lease.
 */
export interface Term {
  /** The fencing token: each term of a lease has a larger one. 0 without leases. */
  readonly token: number;
  /** Aborts when the term ends. The work then has 10 s to end. */
  readonly signal: AbortSignal;
  /**
   * Whether no other node can do the work now. It looks at this node's clock: after a freeze it knows that the term has
   * lapsed before the signal aborts.
   */
  readonly isHeld: () => boolean;
  /** Ends the term because a part of the work has failed. The work counts as failed with this error. */
  readonly fail: (error: unknown) => void;
  /**
   * Returns a port for this term alone. Once the work has ended or was left, every call through it throws
   * `TermLeftError`. A call that runs when the work is left throws it too; what the call does stays unknown.
   */
  readonly guard: <Port extends object>(port: Port) => Port;
}

export type TermWork = (term: Term) => Promise<void>;

export interface TermOptions extends Pick<Term, 'token' | 'signal' | 'isHeld'> {
  readonly name: string;
  readonly log: Logger;
}

export const endOfTermMs = 10_000;

/**
 * Does work in a term. Work that has not ended 10 s after its term is left: its handle is closed, so it has no more
 * effects, and whoever waits for the end of the term continues.
 * @throws what the term or the work fails with; Error when the work ends before its term
 */
export async function runTerm(options: TermOptions, work: TermWork): Promise<void> {
  const { name, token } = options;
  const handle = new PortHandle(() => new TermLeftError(`The term ${token} of ${name} is over on this node.`));
  const ending = new AbortController();
  const failures: unknown[] = [];
  const term: Term = {
    token,
    signal: AbortSignal.any([options.signal, ending.signal]),
    isHeld: () => !handle.isClosed && options.isHeld(),
    fail: (error) => {
      failures.push(error);
      ending.abort();
    },
    guard: (port) => handle.guard(port),
  };
  try {
    const running = work(term);
    if (!(await endsInTime(running, term.signal, endOfTermMs))) await leave(running, handle, options);
  } catch (error) {
    failures.push(error);
  } finally {
    handle.close();
  }
  const hasEndedItself = !term.signal.aborted;
  // It also ends what work that has failed leaves behind.
  ending.abort();
  if (failures.length > 0) throw failures[0];
  if (hasEndedItself) throw new Error(`The work under the lease ${name} ended unexpectedly.`);
}

/** Closes the handle of work that does not end. A late failure of the work is logged, and ends nothing. */
async function leave(running: Promise<void>, handle: PortHandle, { name, token, log }: TermOptions): Promise<void> {
  const fields = { lease: name, token };
  log.error(
    fields,
    'Work has not ended 10 s after its term and is left: whatever it still calls is refused, and this node may begin it again',
  );
  running.catch((error: unknown) => {
    if (!(error instanceof TermLeftError))
      log.warn({ ...fields, error: errorText(error) }, 'Work that was left has failed');
  });
  handle.abandon();
  // Work that waits for a port ends now, before the next term begins.
  await clock.nextTurn();
}
