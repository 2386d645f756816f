import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { type AsOf, describeAsOf } from './as-of.ts';

/** The progress of read models that do not change any more. */
export function asOfProjections(asOf: AsOf): ProjectionsProgress {
  const { position } = asOf;
  const statuses = asOf.projections.map(
    ({ name, version }): ProjectionStatus => ({
      ...{ name, version, state: 'running', ready: true, begunAt: position, position, failure: null, rebuild: null },
    }),
  );
  const reached = async (awaited: number) => (awaited <= position ? 'reached' : 'timeout');
  return {
    waitFor: (awaited) => reached(awaited),
    waitForProjections: (_names, awaited) => reached(awaited),
    status: () => statuses,
    onStatus: () => () => undefined,
    following: () => ({ live: true, detail: `read only as of ${describeAsOf(asOf)}` }),
  };
}
