import type { Runtime } from '#app/runtime.ts';
import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { ProjectionLag, Stopped } from '#http/routes/metrics.ts';
import type { ProcessStatuses } from '#process-engine/process-statuses.ts';
import { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';

/** Time limit of a store for readiness and the metrics. */
const timeoutMs = 1_000;

/** Null while the event store does not answer. */
export function readEndOfLog(events: Pick<EventStore, 'lastPosition'>): Promise<number | null> {
  return withTimeout(timeoutMs, events.lastPosition(), null).catch(() => null);
}

/** Records how far the read models are behind the log. */
export function startLagMonitor({ events, projections, opened }: Runtime): LagMonitor {
  const lag = new LagMonitor({ lastPosition: () => readEndOfLog(events), status: () => projections.status() });
  lag.start();
  opened.defer(() => lag.stop());
  return lag;
}

/** The progress at the time when the metrics are read. Figures that a store does not answer are left out. */
export function watchMetrics(runtime: Runtime, statuses: ProcessStatuses): void {
  const { metrics, events, documents, projections, admission } = runtime;
  metrics.watchGauge(
    'switchyard_body_bytes_in_flight',
    'Bytes that bodies of requests hold in memory',
    () => admission.budgets.body.bytes,
  );
  metrics.watchGauge(
    'switchyard_answer_bytes_in_flight',
    'Bytes of answers that clients have not taken yet',
    () => admission.budgets.answer.bytes,
  );
  metrics.watchProjections(() => projectionLags(events, projections));
  metrics.watchUnknownEvents(() => withTimeout(timeoutMs, documents.unknownEvents(), []).catch(() => []));
  metrics.watchIncompleteStreams(() =>
    projections.status().map(({ name, incompleteStreams }) => ({ name, count: incompleteStreams.count })),
  );
  metrics.watchStopped(async () => [...stoppedProjections(projections), ...(await stoppedProcesses(statuses))]);
}

/** Empty while the event store does not answer. The other metrics are most important then. */
async function projectionLags(
  events: Runtime['events'],
  projections: Runtime['projections'],
): Promise<ReadonlyArray<ProjectionLag>> {
  const end = await readEndOfLog(events);
  if (end === null) return [];
  return projections.status().map(({ name, position }) => ({ name, positions: end - position }));
}

function stoppedProjections(projections: Runtime['projections']): ReadonlyArray<Stopped> {
  return projections.status().flatMap((status) => stopped('projection', status));
}

/** Empty while checkpoints cannot be read. The other metrics are most important then. */
async function stoppedProcesses(statuses: ProcessStatuses): Promise<ReadonlyArray<Stopped>> {
  const all = await withTimeout(timeoutMs, statuses.read(), []).catch(() => []);
  return all.flatMap((status) => stopped('process', status));
}

function stopped(
  kind: Stopped['kind'],
  { name, failure }: Pick<ProcessStatus, 'name' | 'failure'>,
): ReadonlyArray<Stopped> {
  return failure === null ? [] : [{ kind, name, eventId: failure.eventId, position: failure.position }];
}
