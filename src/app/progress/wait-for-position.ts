import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';

/** How long a process waits for a read model before it retries. A stop takes at most as long. */
const timeoutMs = 2_000;

/** Waits until a read model has passed a position. @returns false after a time limit */
export type WaitForPosition = (collection: string, position: number) => Promise<boolean>;

/** Creates the function with which processes, webhooks and live feeds wait for read models. */
export function createWaitForPosition(projections: ProjectionsProgress): WaitForPosition {
  return (collection, position) => hasReached(projections, [collection], position, timeoutMs);
}

/** Waits until all of these read models have passed a position. @returns false after the time limit */
export async function hasReached(
  projections: ProjectionsProgress,
  names: ReadonlyArray<string>,
  position: number,
  milliseconds: number,
): Promise<boolean> {
  return (await projections.waitForProjections(names, position, milliseconds)) === 'reached';
}
