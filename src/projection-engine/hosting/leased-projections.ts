import type { Term } from '#leases/term.ts';
import { type UnderLeaseOptions, underLease } from '#leases/under-lease.ts';
import { PositionPublisher } from '#projection-engine/progress/position-publisher.ts';
import type { AnyProjection } from '#projection-engine/projection.ts';
import {
  type ProjectionRunner,
  type ProjectionRunnerOptions,
  startProjectionRunner,
} from '#projection-engine/projection-runner.ts';
import {
  type PositionsWriter,
  type ProjectionPositions,
  projectionsLease,
  type ServedPosition,
} from '#read-store/published-positions.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';

export interface LeasedProjectionsOptions
  extends Pick<ProjectionRunnerOptions, 'projections' | 'knownTypes' | 'events' | 'tail' | 'log'>,
    Pick<UnderLeaseOptions, 'leases' | 'holder' | 'limits' | 'signal'> {
  /**
   * Opens a writer with a fencing token. It is closed at the end of the term, and does not repeat failed calls after the
   * signal has aborted.
   */
  readonly openWriter: (token: number, signal: AbortSignal) => ReadStoreWriter & PositionsWriter;
  /** Called when the positions may have changed, in the order of the projections; with none at the end of a term. */
  readonly onPositions?: (served: ReadonlyArray<ServedPosition>) => void;
}

/**
 * Runs all projections while this node holds their lease, and publishes their positions to the other nodes, until the
 * signal aborts.
 * @throws what the stores throw other than UnavailableError, which is retried; the lease is released by then
 */
export function runProjectionsUnderLease(options: LeasedProjectionsOptions): Promise<void> {
  const { leases, holder, limits, log, signal } = options;
  const work = (term: Term) => runOneTerm(options, term);
  return underLease({ name: projectionsLease, leases, holder, log, signal, work, ...(limits && { limits }) });
}

async function runOneTerm(options: LeasedProjectionsOptions, { token, signal }: Term): Promise<void> {
  const { projections, tail, log, openWriter } = options;
  const store = openWriter(token, signal);
  // When the runner or the publisher ends, the other must end too. The publisher ends last, because it stores the
  // checkpoints of what the runner has stored.
  const runnerEnded = new AbortController();
  const publisherEnded = new AbortController();
  let publisher: PositionPublisher | null = null;
  try {
    let running: ProjectionRunner | null = null;
    const onPositions = () => {
      publisher?.changed();
      if (running !== null) options.onPositions?.(running.positions());
    };
    const runnerSignal = AbortSignal.any([signal, publisherEnded.signal]);
    const runner = await startProjectionRunner({ ...options, store, onPositions, signal: runnerSignal });
    // A runner that was aborted while it started has no positions to publish.
    if (signal.aborted) return;
    running = runner;
    options.onPositions?.(runner.positions());
    const positions = (): ProjectionPositions => ({ ...servedBy(runner, projections), read: tail.trail.read });
    publisher = new PositionPublisher({ save: (served) => store.savePositions(served), positions, log });
    await allSettled([
      runner.finished.finally(() => runnerEnded.abort()),
      publisher.run(runnerEnded.signal).finally(() => publisherEnded.abort()),
    ]);
  } finally {
    options.onPositions?.([]);
    await store.close();
  }
}

function servedBy(runner: ProjectionRunner, projections: ReadonlyArray<AnyProjection>) {
  const names = projections.map(({ name }) => name);
  // The runner's positions are in the order of the projections.
  const served = runner.positions().map((position, index) => ({ name: names[index] ?? '', ...position }));
  return { ready: runner.ready(), projections: served, statusChanges: runner.statusChanges };
}
