import type { EventStore } from '#event-store/event-store.ts';
import { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { readEndOfLog } from './end-of-log.ts';

/** The dependencies of the lag monitor. */
export interface LagDependencies {
  readonly events: Pick<EventStore, 'lastPosition'>;
  readonly projections: Pick<ProjectionsProgress, 'status'>;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** Starts to record how far the read models are behind the log. */
export function startLagMonitor({ events, projections, opened }: LagDependencies): LagMonitor {
  const lag = new LagMonitor({ lastPosition: () => readEndOfLog(events), status: () => projections.status() });
  lag.start();
  opened.defer(() => lag.stop());
  return lag;
}
