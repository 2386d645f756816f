import type { EventStore } from '#event-store/event-store.ts';
import type { Positions } from '#positions/positions.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { retrying } from '#shared/async/retrying.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Time limit of a start for its stores. Stores on the same machine may be starting too. */
const defaultTimeoutMs = 60_000;

/**
 * @param variable configures the store
 * @throws StartupError if it does not answer in time, or if a person must change something
 */
export async function waitForStore<Result>(
  variable: string,
  log: Logger,
  call: () => Promise<Result>,
  timeoutMs = defaultTimeoutMs,
): Promise<Result> {
  try {
    return await retrying(`Reaching the store of ${variable}`, call, {
      log,
      signal: AbortSignal.timeout(timeoutMs),
      throwsPermanent: true,
    });
  } catch (error) {
    if (error instanceof PermanentlyUnavailableError) throw new StartupError(`${variable}: ${error.message}`);
    if (error instanceof UnavailableError) {
      const seconds = timeoutMs / 1000;
      throw new StartupError(
        `${variable}: the store did not answer within ${seconds} s. ${error.message} Check that it runs and that the address is right.`,
      );
    }
    throw asRefusal(variable, error);
  }
}

/** Returns a StartupError in place of a server's refusal; any other error unchanged. */
export function asRefusal(variable: string, error: unknown): unknown {
  // Also a missing file of an option. Neither message contains an address.
  const isRefusal = error instanceof Error && 'code' in error;
  return isRefusal
    ? new StartupError(`${variable}: the store cannot be used as it is set up. ${error.message}`)
    : error;
}

export interface ReadModelWait {
  readonly projections: ProjectionsProgress;
  readonly positions: Pick<Positions, 'passed'>;
  readonly events: Pick<EventStore, 'lastPosition'>;
}

/**
 * Waits until every read model has reached the current end of the log, so that writes that were acknowledged before a
 * crash can be read immediately after it.
 * @param timeoutMs after this time the service runs while the read models still catch up, and `/readyz` says so
 */
export async function waitForReadModels(
  { projections, positions, events }: ReadModelWait,
  timeoutMs: number,
): Promise<void> {
  const deadline = clock.now() + timeoutMs;
  const end = await events.lastPosition();
  await statusThat(projections, (statuses) => statuses.length > 0 && statuses.every(isFilled), deadline);
  const names = projections.status().map(({ name }) => name);
  await positions.passed({ names }, end, { strict: true, ms: deadline - clock.now() });
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
  await withTimeout(deadline - clock.now(), promise, undefined);
  unsubscribe();
}
