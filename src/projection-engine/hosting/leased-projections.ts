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

export interface LeasedProjectionsOptions
  extends Pick<ProjectionRunnerOptions, 'projections' | 'knownTypes' | 'events' | 'tail' | 'log'>,
    Pick<UnderLeaseOptions, 'leases' | 'holder' | 'limits' | 'signal'> {
  /**
   * Opens the writer, which is closed at the end of the term, and does not repeat failed calls after the signal has
   * aborted.
   */
  readonly openWriter: (token: number, signal: AbortSignal) => ReadStoreWriter & PositionsWriter;
  /** Gets the positions in the order of the projections; empty at the end of a term. */
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

async function runOneTerm(options: LeasedProjectionsOptions, term: Term): Promise<void> {
  const { openWriter, onPositions = ignore } = options;
  const { token, signal } = term;
  const store = openWriter(token, signal);
  // Work that is left reports nothing more, so the end of the term is reported when it begins to end.
  signal.addEventListener('abort', () => onPositions([]), { once: true });
  const report: typeof onPositions = (served) => {
    if (!signal.aborted) onPositions(served);
  };
  await project({ ...options, onPositions: report }, term.guard(store), term).catch(term.fail);
  await store.close();
}

/** Projects until the term ends. @throws what the stores throw at the start of the runner */
async function project(
  options: LeasedProjectionsOptions & { readonly onPositions: (served: ReadonlyArray<ServedPosition>) => void },
  store: ReadStoreWriter & PositionsWriter,
  { signal, guard, fail }: Term,
): Promise<void> {
  const { projections, tail, log } = options;
  let publisher: PositionPublisher | null = null;
  let running: ProjectionRunner | null = null;
  const onPositions = () => {
    publisher?.changed();
    if (running !== null) options.onPositions(running.positions());
  };
  const events = guard(options.events);
  const runner = await startProjectionRunner({ ...options, events, store, onPositions, signal });
  // A runner that was aborted while it started has no positions to publish.
  if (signal.aborted) return;
  running = runner;
  options.onPositions(runner.positions());
  const positions = (): ProjectionPositions => ({ ...servedBy(runner, projections), read: tail.trail.read });
  publisher = new PositionPublisher({ save: (served) => store.savePositions(served), positions, log });
  // When one fails, the term ends for both. The publisher ends last, because it stores the checkpoints of what the
  // runner has stored.
  const runnerEnded = new AbortController();
  await Promise.all([
    runner.finished.catch(fail).finally(() => runnerEnded.abort()),
    publisher.run(runnerEnded.signal).catch(fail),
  ]);
}

function servedBy(runner: ProjectionRunner, projections: ReadonlyArray<AnyProjection>) {
  const names = projections.map(({ name }) => name);
  // The runner's positions are in the order of the projections.
  const served = runner.positions().map((position, index) => ({ name: names[index] ?? '', ...position }));
  return { ready: runner.ready(), projections: served, statusChanges: runner.statusChanges };
}

function ignore(): void {}
