import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';

/** How long a process waits for a read model before it tries again; a stop waits as long at most. */
const timeoutMs = 2_000;

/** Waits a while until a read model has passed a position; false when it did not. */
export type WaitForPosition = (collection: string, position: number) => Promise<boolean>;

/** Makes what processes, webhooks and live feeds wait for read models with. */
export function createWaitForPosition(projections: ProjectionsProgress): WaitForPosition {
  return (collection, position) => hasReached(projections, [collection], position, timeoutMs);
}

/** Waits until all of these read models have passed a position. @returns false when they did not in time */
export async function hasReached(
  projections: ProjectionsProgress,
  names: ReadonlyArray<string>,
  position: number,
  milliseconds: number,
): Promise<boolean> {
  return (await projections.waitForProjections(names, position, milliseconds)) === 'reached';
}
