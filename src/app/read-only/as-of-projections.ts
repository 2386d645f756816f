import { Positions } from '#positions/positions.ts';
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
  return {
    status: () => statuses,
    onStatus: () => () => undefined,
    following: () => ({ live: true, detail: `read only as of ${describeAsOf(asOf)}` }),
  };
}

/** The positions of read models that do not change any more, so no caller waits for them. */
export function asOfPositions({ position, projections }: AsOf): Positions {
  const positions = new Positions();
  positions.update('projection', new Map(projections.map(({ name }) => [name, { position, live: false }])));
  positions.close();
  return positions;
}
