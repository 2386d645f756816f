import { join } from 'node:path';
import type { Logger } from 'pino';
import { commands } from '#commands/table.ts';
import { upcasters } from '#domain/upcasters.ts';
import { Claims } from '#event-store/claims.ts';
import { CommandHandler } from '#event-store/command-handler.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { upcastWith } from '#event-store/upcasting.ts';
import type { Readiness } from '#http/health.ts';
import { KeyResolver } from '#http/key-resolver.ts';
import { createMetrics, type Metrics } from '#http/metrics.ts';
import type { Lookup } from '#operations/command.ts';
import { commandOperation } from '#operations/execute-command.ts';
import { queryOperation } from '#operations/execute-query.ts';
import type { Operation } from '#operations/operation.ts';
import { assignAgentProfiles } from '#processes/assign-agent-profiles.ts';
import { detachPhoneNumbers } from '#processes/detach-phone-numbers.ts';
import { ProcessRunner } from '#processes/process-runner.ts';
import { openSqliteCheckpointStore } from '#processes/sqlite-checkpoint-store.ts';
import { projections } from '#projections/table.ts';
import { queries } from '#queries/table.ts';
import { openKeyUsage } from '#read-store/key-usage.ts';
import { type Projector, startProjector } from '#read-store/projector-thread.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { bootstrap } from './bootstrap.ts';
import type { Config } from './config.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { effectsShown, showLimitMilliseconds } from './effects-shown.ts';

/** Everything behind the faces, running. */
export interface Service {
  readonly operations: ReadonlyArray<Operation>;
  readonly keys: KeyResolver;
  readonly events: EventStore;
  readonly documents: ReadStore;
  readonly projector: Projector;
  readonly directory: DataDirectory;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Finishes what runs and closes everything, the last opened first. */
  readonly close: () => Promise<void>;
}

/** What the composition root is told beside the configuration. */
export interface ComposeOptions {
  readonly log: Logger;
  /** Is handed the admin key that a first start makes. */
  readonly tellKey: (key: string) => void;
}

const processes = [detachPhoneNumbers, assignAgentProfiles];

/**
 * Opens the stores and puts the service together on them. With `src/projector.ts`, the only place that names concrete
 * adapters.
 * @throws StartFailure with one clear line
 */
export async function compose(config: Config, { log, tellKey }: ComposeOptions): Promise<Service> {
  const opened: Array<() => unknown> = [];
  const close = () => closeInReverse(opened);
  try {
    const directory = openDataDirectory(config.dataDir);
    opened.push(() => directory.release());
    const metrics = createMetrics();
    opened.push(() => metrics.close());
    const events = await openSqliteEventStore({
      file: config.eventStore.path,
      upcast: upcastWith(upcasters),
      maxAppendBytes: config.limits.maxAppendBytes,
      onCommit: ({ appends }) => metrics.appendBatch(appends),
      onWriterFailure: (error) => log.fatal({ err: error }, 'the event store takes no more appends: restart'),
    });
    opened.push(() => events.close());
    const projector = await startProjector({
      eventStoreFile: config.eventStore.path,
      wakePort: () => events.wakePort(),
      readStoreFile: config.readStore.path,
      log,
    });
    opened.push(() => projector.close());
    const documents = openSqliteReadStore(config.readStore.path);
    opened.push(() => documents.close());
    const keyUsage = openKeyUsage({
      readStore: documents,
      save: (times) => projector.saveKeysLastUsed(times),
      log,
    });
    opened.push(() => keyUsage.close());
    const checkpoints = openSqliteCheckpointStore(join(config.dataDir, 'processes.db'));
    opened.push(() => checkpoints.close());

    const handler = new CommandHandler({ store: events });
    await bootstrap(handler, config.bootstrapApiKey, tellKey);
    const projectionStatus = async () => projector.status().projections;
    const names = projections.map(({ name }) => name);
    const reached = async (projectionNames: ReadonlyArray<string>, position: number, milliseconds: number) =>
      (await projector.waitForProjections(projectionNames, position, milliseconds)) === 'reached';
    const runners = processes.map(
      (process) =>
        new ProcessRunner({
          process,
          store: events,
          handler,
          documents,
          checkpoints,
          reached: (position) => reached(names, position, 10_000),
          log,
        }),
    );
    for (const runner of runners) {
      runner.start();
      opened.push(() => runner.stop());
    }

    const keys = new KeyResolver(documents, keyUsage);
    const shown = effectsShown(runners, projector, names);
    const commandRuntime = {
      handler,
      claims: new Claims(handler),
      lookup: lookupIn(documents, projectionStatus),
      shown: (appended: ReadonlyArray<RecordedEvent>) => {
        for (const event of appended) keys.changed(event);
        return shown(appended);
      },
    };
    const queryRuntime = {
      documents,
      keyUsage,
      projectionStatus,
      reached: (projectionNames: ReadonlyArray<string>, position: number) =>
        reached(projectionNames, position, showLimitMilliseconds),
    };
    const operations = [
      ...commands.map((command) => commandOperation(command, commandRuntime)),
      ...queries.map((query) => queryOperation(query, queryRuntime)),
    ];
    metrics.watchProjections(async () => {
      const end = await events.lastPosition();
      return projector.status().projections.map(({ name, position }) => ({ name, positions: end - position }));
    });
    const readiness = readinessOf(events, projector);
    return { operations, keys, events, documents, projector, directory, readiness, metrics, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function closeInReverse(opened: ReadonlyArray<() => unknown>): Promise<void> {
  for (const close of opened.toReversed()) await close();
}

function lookupIn(documents: ReadStore, projectionStatus: ReadStore['status']): Lookup {
  return {
    exists: async (collection, where) =>
      (await documents.list(collection, where, { limit: 1, maxBytes: 1 })).documents.length > 0,
    projection: async (name) => (await projectionStatus()).find((status) => status.name === name) ?? null,
  };
}

function readinessOf(events: EventStore, projector: Projector): Readiness {
  return async () => {
    const { thread, projections: statuses } = projector.status();
    const stopped = statuses.filter(({ state }) => state === 'stopped').map(({ name }) => name);
    const position = await events.lastPosition();
    return [
      { name: 'event-store', ready: true, detail: `at position ${position}` },
      {
        name: 'projections',
        ready: projector.ready() && stopped.length === 0,
        detail: stopped.length > 0 ? `stopped: ${stopped.join(', ')}` : `thread ${thread}`,
      },
    ];
  };
}
