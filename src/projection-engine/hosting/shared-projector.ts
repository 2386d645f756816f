import type { MessagePort } from 'node:worker_threads';
import { LeasesOverPort } from '#leases/leases-over-port.ts';
import { type LeasedProjectionsOptions, runProjectionsUnderLease } from './leased-projections.ts';
import type { ProjectorReports } from './projector-reports.ts';

export interface SharedProjectorOptions extends Omit<LeasedProjectionsOptions, 'leases' | 'onPositions' | 'log'> {
  /** The port to the leases of the main thread. */
  readonly leases: MessagePort;
  readonly reports: ProjectorReports;
}

/** Runs the projections while this node holds the lease, until the signal aborts. The stores are open. */
export async function runSharedProjector({ leases: port, reports, ...options }: SharedProjectorOptions): Promise<void> {
  const leases = new LeasesOverPort(port);
  reports.opened(options.projections);
  try {
    await runProjectionsUnderLease({
      ...options,
      leases,
      log: reports.log,
      onPositions: (served) => reports.positions(served),
    });
  } finally {
    leases.close();
  }
}
