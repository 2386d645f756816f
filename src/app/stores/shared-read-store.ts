import type { LogTail } from '#event-store/log-tail.ts';
import type { Admission } from '#exchange/admission.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import type { Leases } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { RoundTimes } from '#leases/round-times.ts';
import { type PositionSink, Positions } from '#positions/positions.ts';
import { PolledProjections } from '#projection-engine/hosting/polled-projections.ts';
import {
  followedBy,
  ProjectorThread,
  type ProjectorThreadOptions,
} from '#projection-engine/hosting/projector-thread.ts';
import { eventTypesOf } from '#projection-engine/projection.ts';
import { projections as projectionTable } from '#projections/table.ts';
import type { AnnouncedGenerations } from '#read-store/mongodb/mongodb-read-store.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import { projectionsLease } from '#read-store/published-positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { limited } from './limited.ts';
import { polledPositions } from './polled-positions.ts';
import { leaseLimits, readStoreLimits, recordLimits } from './port-limits.ts';

/** Opened stores. They are closed with the read store. */
export interface SharedReadStorePorts {
  readonly openDocuments: (announced: AnnouncedGenerations) => ReadStore;
  readonly leases: LeaseStore;
  /** The measure for the limits of the leases' connection. Default: a separate one. */
  readonly leaseTimes?: RoundTimes;
  /** The records that are read many times a second. */
  readonly polled: RecordStore;
}

/** A read store, whichever node fills it. */
export interface SharedReadStore {
  readonly documents: ReadStore;
  readonly projections: PolledProjections;
  readonly positions: Positions;
  readonly positionSink: PositionSink;
  readonly leases: Leases;
}

export interface SharedReadStoreSurroundings {
  readonly admission: Pick<Admission, 'rooms'>;
  readonly tail: LogTail;
  readonly log: Logger;
  readonly opened: AsyncDisposableStack;
}

/** Nothing is polled before its projections are started. */
export function buildSharedReadStore(
  ports: SharedReadStorePorts,
  { admission, tail, log, opened }: SharedReadStoreSurroundings,
): SharedReadStore {
  const positions = new Positions(admission);
  opened.defer(() => positions.close());
  let polledAt = () => Number.NEGATIVE_INFINITY;
  const announced = { generationOf: (name: string) => positions.generationOf(name), readAt: () => polledAt() };
  const documents = limited(ports.openDocuments(announced), readStoreLimits);
  opened.defer(() => documents.close());
  const leases = new NodeLeases({
    store: limited(ports.leases, leaseLimits),
    times: ports.leaseTimes ?? new RoundTimes(),
  });
  opened.defer(() => leases.close());
  const polled = limited(ports.polled, recordLimits);
  opened.defer(() => polled.close());
  const projections = new PolledProjections({
    projections: projectionTable.map((projection) => ({ name: projection.name, types: eventTypesOf(projection) })),
    positions,
    source: polledPositions(polled, tail),
    store: new ReadStoreNotes(polled),
    holder: async (token) => {
      const newest = (await leases.look()).get(projectionsLease);
      return newest?.token === token ? newest.holder : null;
    },
    log,
  });
  opened.defer(() => projections.close());
  polledAt = () => projections.polledAt;
  return { documents, projections, positions, positionSink: projections.sink, leases };
}

/** Runs the projections in a thread, while this node holds the lease. @throws Error when it cannot start */
export async function runProjector(
  options: ProjectorThreadOptions,
  sink: PositionSink,
  { metrics, opened }: { readonly metrics: Pick<Metrics, 'mongoDbCommand'>; readonly opened: AsyncDisposableStack },
): Promise<void> {
  let names: ReadonlyArray<string> = [];
  const thread = new ProjectorThread(options, {
    onMessage: (message) => {
      if (message.kind === 'opened') names = message.projections.map(({ name }) => name);
      else if (message.kind === 'positions') sink.update('projection', followedBy(names, message.served));
      else if (message.kind === 'mongodb-commands') for (const ended of message.ended) metrics.mongoDbCommand(ended);
    },
    onExit: () => sink.update('projection', new Map()),
  });
  opened.defer(() => thread.close());
  await thread.start();
}
