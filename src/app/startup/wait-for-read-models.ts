import type { EventStore } from '#event-store/event-store.ts';
import type { Positions } from '#positions/positions.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { withTimeout } from '#shared/async/with-timeout.ts';

/** What the start of the service waits for. */
export interface ReadModelWait {
  readonly projections: ProjectionsProgress;
  readonly positions: Pick<Positions, 'passed'>;
  readonly events: Pick<EventStore, 'lastPosition'>;
}

/**
 * Waits until every read model has reached the current end of the log, so that writes that were acknowledged before a
 * crash can be read at once after it.
 * @param timeoutMs after this time the service runs while the read models still catch up, and `/readyz` says so
 */
export async function waitForReadModels(
  { projections, positions, events }: ReadModelWait,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const end = await events.lastPosition();
  await statusThat(projections, (statuses) => statuses.length > 0 && statuses.every(isFilled), deadline);
  const names = projections.status().map(({ name }) => name);
  await positions.passed({ names }, end, { strict: true, ms: deadline - performance.now() });
}

const isFilled = ({ ready }: ProjectionStatus) => ready;

async function statusThat(
  projections: ProjectionsProgress,
  fits: (statuses: ReadonlyArray<ProjectionStatus>) => boolean,
  deadline: number,
): Promise<void> {
  if (fits(projections.status())) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = projections.onStatus((statuses) => {
    if (fits(statuses)) resolve();
  });
  await withTimeout(deadline - performance.now(), promise, undefined);
  unsubscribe();
}
