import type { EventStore } from '#event-store/event-store.ts';
import type { Projector, ProjectorStatus } from '#read-store/projector-thread.ts';

/**
 * Waits until every read model holds the log as far as it goes now, so that what was acknowledged before a crash is
 * read at once after it.
 * @param limitMilliseconds how long at most: a long log is followed while the service runs, as `/readyz` tells
 */
export async function caughtUp(
  projector: Projector,
  events: Pick<EventStore, 'lastPosition'>,
  limitMilliseconds: number,
): Promise<void> {
  const deadline = performance.now() + limitMilliseconds;
  const end = await events.lastPosition();
  await statusThat(projector, ({ projections }) => projections.length > 0 && projections.every(isFilled), deadline);
  const names = projector.status().projections.map(({ name }) => name);
  await projector.waitForProjections(names, end, deadline - performance.now());
}

const isFilled = ({ ready }: ProjectorStatus['projections'][number]) => ready;

async function statusThat(
  projector: Projector,
  fits: (status: ProjectorStatus) => boolean,
  deadline: number,
): Promise<void> {
  if (fits(projector.status())) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
  const unsubscribe = projector.onStatus((status) => {
    if (fits(status)) resolve();
  });
  await promise;
  clearTimeout(timer);
  unsubscribe();
}
