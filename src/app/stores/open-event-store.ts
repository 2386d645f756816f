import type { Logger } from 'pino';
import type { Config } from '#app/config.ts';
import { isKnownEventType } from '#domain/shared/event-codecs.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { upcastWith } from '#event-store/upcasting.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { ProjectorEvents } from '#projection-engine/hosting/projector-messages.ts';
import { withVariableName } from '#shared/errors/startup-error.ts';

/** The log, open. */
export interface OpenedEventStore {
  readonly events: EventStore;
  /** What a projector thread follows it by: asked anew for each thread. */
  readonly forProjector: () => ProjectorEvents;
  /** This process alone appends to it. */
  readonly soleWriter: boolean;
}

/** Who is told what happens in it. */
export interface EventStoreListeners {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Is told of what cannot be mended while it runs. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Opens the event store that the configuration names. EventStoreDB is connected to at the first call.
 * @throws StartupError
 */
export async function openEventStore(
  { eventStore, limits }: Config,
  { log, metrics, onFatal }: EventStoreListeners,
): Promise<OpenedEventStore> {
  const common = {
    upcast: upcastWith(upcasters, isKnownEventType),
    maxAppendBytes: limits.maxAppendBytes,
    onCommit: ({ appends }: { readonly appends: number }) => metrics.appendBatch(appends),
  };
  if (eventStore.kind === 'eventstoredb') {
    const { url } = eventStore;
    // Its client takes a good part of a start to load, which a start on the embedded store is spared.
    const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
    const events = withVariableName('EVENT_STORE_URL', () => openEventStoreDbEventStore({ ...common, url, log }));
    return { events, forProjector: () => ({ kind: 'eventstoredb', url }), soleWriter: false };
  }
  const file = eventStore.path;
  const events = await openSqliteEventStore({ ...common, file, onWriterFailure: onFatal });
  return { events, forProjector: () => ({ kind: 'sqlite', file, wake: events.wakePort() }), soleWriter: true };
}
