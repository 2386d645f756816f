import type { EventStore } from '#event-store/event-store.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';

/**
 * Waits until every read model holds the log as far as it goes now, so that what was acknowledged before a crash is
 * read at once after it.
 * @param limitMilliseconds how long at most: a long log is followed while the service runs, as `/readyz` tells
 */
export async function waitForReadModels(
  projections: ProjectionsProgress,
  events: Pick<EventStore, 'lastPosition'>,
  limitMilliseconds: number,
): Promise<void> {
  const deadline = performance.now() + limitMilliseconds;
  const end = await events.lastPosition();
  await statusThat(projections, (statuses) => statuses.length > 0 && statuses.every(isFilled), deadline);
  const names = projections.status().map(({ name }) => name);
  await projections.waitForProjections(names, end, deadline - performance.now());
}

const isFilled = ({ ready }: ProjectionStatus) => ready;

async function statusThat(
  projections: ProjectionsProgress,
  fits: (statuses: ReadonlyArray<ProjectionStatus>) => boolean,
  deadline: number,
): Promise<void> {
  if (fits(projections.status())) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
  const unsubscribe = projections.onStatus((statuses) => {
    if (fits(statuses)) resolve();
  });
  await promise;
  clearTimeout(timer);
  unsubscribe();
}
