import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { Registry } from 'prom-client';
import { readConfig } from '#app/config.ts';
import { OpenedParts } from '#app/opened-parts.ts';
import { createBindOperations } from '#app/parts/bind-operations.ts';
import type { OperationTable } from '#app/parts/operation-tables.ts';
import { startFollowers, startSharedWork } from '#app/parts/run-background.ts';
import { startLagMonitor } from '#app/progress.ts';
import type { Runtime } from '#app/runtime.ts';
import { limited } from '#app/stores/limited.ts';
import { followStates, type Stores } from '#app/stores/open-stores.ts';
import { buildWebhookStores } from '#app/stores/open-webhooks.ts';
import {
  blobLimits,
  deliveryLogLimits,
  leaseLimits,
  readStoreLimits,
  recordLimits,
  serverLogLimits,
  sharedWriterLimits,
  subjectKeyLimits,
} from '#app/stores/port-limits.ts';
import { buildSharedReadStore, runProjector } from '#app/stores/shared-read-store.ts';
import { KeyUsage } from '#application/access/key-usage.ts';
import type { VersionComparer } from '#application/diffs/version-comparer.ts';
import { FileSpace } from '#application/files/file-space.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { AnyOperation, Operation } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { RecordSnapshots } from '#application/streams/stream-snapshots.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { Admission } from '#exchange/admission.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import { serveLeases } from '#leases/leases-over-port.ts';
import { RoundTimes } from '#leases/round-times.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { reactingProcesses } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { processTable } from '#processes/table.ts';
import { ProjectorReports } from '#projection-engine/hosting/projector-reports.ts';
import { runSharedProjector } from '#projection-engine/hosting/shared-projector.ts';
import { projections } from '#projections/table.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation, type OperationInvocation } from '#test/support/harness/invoke-operation.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import { UrlGuard } from '#webhooks/url-guard.ts';
import { LeaseClient } from './doubles/lease-client.ts';
import type { SharedLog } from './doubles/shared-log.ts';
import { openSimulatedChannel } from './message-ports.ts';
import { ProjectorInThread } from './projector-in-thread.ts';
import { SimulatedNode } from './simulated-time.ts';
import type { Surroundings } from './surroundings.ts';
import { worldKey } from './world-key.ts';

const config = readConfig({
  EVENT_STORE_URL: 'esdb://world:2113',
  READ_STORE_URL: 'mongodb://world:27017/world',
  BLOB_STORE_URL: 'gridfs',
  DIGEST_SIGNING_KEY: worldKey,
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  DATA_DIR: '/world',
});

/** What operations answer. */
export type Answer = E.Either<Failure, OperationResult>;

/** A node of a world: the composition of the service on the world's stores. */
export class WorldNode {
  readonly name: string;
  readonly machine: SimulatedNode;
  readonly #surroundings: Surroundings;
  readonly #opened = new OpenedParts();
  #operations = new Map<string, AnyOperation>();
  #runtime: Runtime | null = null;
  /** Null until it has started. */
  startedAt: number | null = null;
  /** Why its start has failed. */
  failure: unknown = null;

  constructor(name: string, surroundings: Surroundings) {
    this.name = name;
    this.machine = new SimulatedNode(name);
    this.#surroundings = surroundings;
  }

  get isRunning(): boolean {
    return this.startedAt !== null && this.machine.state === 'running';
  }

  /** @throws Error before it has started */
  get runtime(): Runtime {
    assert.ok(this.#runtime, `${this.name} has not started`);
    return this.#runtime;
  }

  /** Starts it in the background. */
  start(table: OperationTable): void {
    const { time } = this.#surroundings;
    time.runOn(this.machine, () =>
      this.#start(table).then(
        () => {
          this.startedAt = time.now;
        },
        (error: unknown) => {
          this.failure = error;
        },
      ),
    );
  }

  /** Calls an operation on this node. It never settles if the node dies. */
  call(name: string, invocation: OperationInvocation): Promise<Answer> {
    const operation = this.#operations.get(name);
    assert.ok(operation, `there is no operation ${name}`);
    return this.#surroundings.time.runOn(this.machine, () => invokeOperation(operation as Operation, invocation));
  }

  /** Stops it as a signal does. @returns the names of what has not ended in time */
  stop(): Promise<ReadonlyArray<string>> {
    this.startedAt = null;
    return this.#surroundings.time.runOn(this.machine, () => this.#opened.close());
  }

  async #start(table: OperationTable): Promise<void> {
    const { lineCalls, digestFolder, createSender } = this.#surroundings;
    const stores = await this.#openStores();
    const { personalData, blobs, responses } = stores;
    const processes = processTable(personalData, blobs, responses);
    const started: Runtime = {
      ...stores,
      config,
      log: this.#log,
      opened: this.#opened,
      history: new StreamHistory(stores.events),
      admission: this.#admission,
    };
    const { runtime, processStatuses } = await startFollowers(started, processes);
    this.#runtime = runtime;
    const { documents } = runtime;
    const space = new FileSpace({ documents, quotaBytes: 1024 * 1024, hasRoomFor: async () => true });
    const work = await startSharedWork(runtime, {
      lineCalls: lineCalls(this.name),
      space,
      createSender: () => createSender(this.name),
      folder: digestFolder,
      verify: async () => ({ events: 0, digest: null, findings: [], findingCount: 0, isWhole: true }),
    });
    const bind = createBindOperations({
      ...runtime,
      ...work,
      space,
      processStatuses,
      reacting: reactingProcesses(processes),
      comparer: null as unknown as VersionComparer,
      lag: startLagMonitor(runtime),
      gatewayHealth: () => null,
    });
    this.#operations = new Map(bind(table).map((operation) => [operation.name, operation]));
  }

  async #openStores(): Promise<Stores> {
    const { shared, reach, onTerm } = this.#surroundings;
    const opened = this.#opened;
    const log = this.#log;
    const to = <Port extends object>(store: string, port: Port): Port => reach.to(store, this.name, port);
    const metrics = createMetrics();
    const events = this.#openEvents();
    opened.defer(() => events.close());
    const records = limited(to('records', shared.records), recordLimits);
    opened.defer(() => records.close());
    const tail = new LogTail({ pages: events, log });
    opened.defer(() => tail.close());
    const leaseTimes = new RoundTimes();
    const limitMs = () => leaseTimes.callLimitMs;
    const leases = new LeaseClient(reach.to('leases', this.name, shared.leases, limitMs), onTerm);
    const readStore = buildSharedReadStore(
      {
        openDocuments: () => limited(to('documents', shared.documents.reader(shared.records)), readStoreLimits),
        leases: limited(leases, leaseLimits),
        leaseTimes,
        polled: limited(reach.to('polled', this.name, shared.records, limitMs), recordLimits),
      },
      { admission: this.#admission, tail, log, opened },
    );
    await readStore.projections.start();
    const watched = this.#surroundings.heldLeases.watch(this.name, readStore.leases);
    await this.#startProjector(watched, readStore.positionSink, metrics);
    const writer = new StreamWriter({ store: events, soleWriter: false, snapshots: new RecordSnapshots(records) });
    followStates(tail, writer, opened);
    const keyUsage = new KeyUsage({ records, log });
    opened.addBuffer('key-usage', keyUsage);
    const guard = new UrlGuard({
      allowsPrivateNetworks: true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const keys = limited(to('subject-keys', new InMemorySubjectKeys(shared.subjectKeys)), subjectKeyLimits);
    opened.defer(() => keys.close());
    const blobs = limited(to('blobs', shared.blobs.connect()), blobLimits);
    opened.defer(() => blobs.close());
    const deliveries = limited(to('deliveries', shared.deliveries), deliveryLogLimits);
    opened.defer(() => deliveries.close());
    return {
      directory: { path: config.dataDir, release: () => undefined, announce: () => undefined },
      metrics,
      events,
      ensureWritable: async () => undefined,
      tail,
      writer,
      ...readStore,
      leases: watched,
      records,
      keyUsage,
      checkpoints: new ProcessCheckpoints(records),
      node: this.name,
      personalData: new PersonalData(keys, log),
      blobs,
      webhooks: buildWebhookStores(records, deliveries, guard),
      calls: null as unknown as CallLog,
      responses: { eraseProject: async () => undefined } as unknown as StoredResponses,
    };
  }

  #openEvents(): SharedLog {
    const { shared, reach } = this.#surroundings;
    const events = reach.to('events', this.name, shared.events.connect());
    return limited(events as unknown as EventStoreDbEventStore, serverLogLimits) as unknown as SharedLog;
  }

  #startProjector(
    leases: NonNullable<Stores['leases']>,
    sink: Stores['positionSink'],
    metrics: Metrics,
  ): Promise<void> {
    const { shared, reach, time } = this.#surroundings;
    const work = async (post: ConstructorParameters<typeof ProjectorReports>[0], signal: AbortSignal) => {
      const reports = new ProjectorReports(post);
      const events = this.#openEvents();
      const tail = new LogTail({ pages: events, log: reports.log });
      const [served, port] = openSimulatedChannel(time);
      serveLeases(leases, served);
      try {
        await runSharedProjector({
          projections,
          knownTypes: Object.keys(eventCodecs),
          events,
          tail,
          signal,
          leases: port,
          holder: this.name,
          reports,
          openWriter: (fence) =>
            limited(
              reach.to('read-models', this.name, shared.documents.writer(shared.records, fence)),
              sharedWriterLimits,
            ),
        });
      } finally {
        await tail.close();
        await events.close();
      }
    };
    const wake = null as unknown as Parameters<typeof serveLeases>[1];
    return runProjector(
      {
        events: () => ({ kind: 'eventstoredb', url: '', streamPrefix: '', streamKinds: [], wake }),
        readStore: { kind: 'mongodb', url: '', urlName: '', maxPoolSize: 1, holder: this.name },
        leases,
        startWorker: () => new ProjectorInThread(time, work),
        log: this.#log,
      },
      sink,
      { metrics, opened: this.#opened },
    );
  }

  readonly #admission = new Admission();
  readonly #log: DebugLogger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, message) => this.#surroundings.onLine(this.name, 'warn', fields, message),
    error: (fields, message) => this.#surroundings.onLine(this.name, 'error', fields, message),
  };
}

/** Metrics that nobody reads: those of the machine would keep it measuring. */
function createMetrics(): Metrics {
  const ignore = () => undefined;
  return {
    request: ignore,
    command: ignore,
    appendBatch: ignore,
    mongoDbCommand: ignore,
    watchGauge: ignore,
    watchProjections: ignore,
    watchUnknownEvents: ignore,
    watchIncompleteStreams: ignore,
    watchStopped: ignore,
    watchLimits: ignore,
    watchConnections: ignore,
    registry: new Registry(),
    text: async () => '',
    contentType: 'text/plain; version=0.0.4; charset=utf-8' as Metrics['contentType'],
    close: ignore,
  };
}

/** Whether an answer may differ when the request is sent again. */
export function isPassing(answer: Answer): boolean {
  return E.isLeft(answer) && ['unavailable', 'too-many-conflicts', 'internal-error'].includes(answer.left.code);
}
