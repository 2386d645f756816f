import type { Config } from '#app/config.ts';
import { checkLogFormat, recordLogFormat } from '#app/log-format.ts';
import { isKnownEventType } from '#domain/event-codecs.ts';
import { streamKinds } from '#domain/stream-kinds.ts';
import { upcasters } from '#domain/upcasters.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { feedTail } from '#event-store/log-feed.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { upcastWith } from '#event-store/recorded-event.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { Admission } from '#exchange/admission.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { ProjectorEvents } from '#projection-engine/hosting/projector-messages.ts';
import { StartupError, withVariableName } from '#shared/errors/startup-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { limited } from './limited.ts';
import { embeddedLogLimits, serverLogLimits } from './port-limits.ts';

export interface OpenedEventStore {
  readonly events: EventStore & RawLog & StreamRemoval;
  /** The one reader of the log in this thread. It must be closed before the store. */
  readonly tail: LogTail;
  /** Called for each thread. */
  readonly forProjector: () => ProjectorEvents;
  /** This process is the only writer. */
  readonly soleWriter: boolean;
  /**
   * Checks that an empty log was never begun, and is not under another prefix.
   * @param hasDocuments read models were made from any log
   * @throws StartupError; UnavailableError
   */
  readonly checkStreamPrefix: (hasDocuments: () => Promise<boolean>) => Promise<void>;
  /** Throws if this service may not append. @throws UnavailableError */
  readonly ensureWritable: () => Promise<void>;
  /** Both throw StartupError if a newer or an older release has written the log, and UnavailableError. */
  readonly format: { readonly check: () => Promise<unknown>; readonly record: () => Promise<void> };
}

export interface EventStoreListeners {
  readonly admission: Admission;
  readonly log: DebugLogger;
  readonly metrics: Metrics;
  /** Called when the store has failed. It cannot be used afterwards. */
  readonly onFatal: (error: Error) => void;
}

/** It connects to EventStoreDB at the first call. @throws StartupError */
export async function openEventStore(
  { eventStore, limits }: Config,
  { admission, log, metrics, onFatal }: EventStoreListeners,
): Promise<OpenedEventStore> {
  const common = {
    admission,
    upcast: upcastWith(upcasters, isKnownEventType),
    maxAppendBytes: limits.maxAppendBytes,
    onCommit: metrics.appendBatch,
  };
  if (eventStore.kind === 'eventstoredb') {
    const { url, streamPrefix } = eventStore;
    const naming = { streamPrefix, streamKinds };
    // The client takes much of a start's time to load. A start with the embedded store does not load it.
    const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
    const events = withVariableName('EVENT_STORE_URL', () =>
      limited(openEventStoreDbEventStore({ ...common, ...naming, url, log }), serverLogLimits),
    );
    const tail = new LogTail({ pages: events, log });
    return {
      events,
      tail,
      forProjector: () => ({ kind: 'eventstoredb', url, ...naming, wake: feedTail(tail, events.changes) }),
      soleWriter: false,
      checkStreamPrefix: (hasDocuments) => checkStreamPrefix(events, streamPrefix, hasDocuments),
      ensureWritable: () => events.ensureWritable(),
      format: { check: () => checkLogFormat(events), record: () => recordLogFormat(events) },
    };
  }
  const file = eventStore.path;
  const store = await openSqliteEventStore({ ...common, file, onWriterFailure: onFatal });
  const events = limited(store, embeddedLogLimits);
  return {
    events,
    tail: new LogTail({ pages: events, log, graceMs: 0 }),
    forProjector: () => ({ kind: 'sqlite', file, wake: events.changePort() }),
    soleWriter: true,
    checkStreamPrefix: async () => undefined,
    ensureWritable: async () => undefined,
    // The file has the number, and is checked when it is opened.
    format: { check: async () => undefined, record: async () => undefined },
  };
}

type PrefixedLog = Pick<EventStoreDbEventStore, 'lastPosition' | 'findUnprefixedStream'>;

async function checkStreamPrefix(
  events: PrefixedLog,
  streamPrefix: string,
  hasDocuments: () => Promise<boolean>,
): Promise<void> {
  if ((await events.lastPosition()) > 0) return;
  const prefix = `EVENT_STORE_STREAM_PREFIX=${streamPrefix}`;
  const unprefixed = await events.findUnprefixedStream();
  if (unprefixed !== null)
    throw new StartupError(
      `EVENT_STORE_STREAM_PREFIX: the server of EVENT_STORE_URL has streams of this service without a prefix (${unprefixed}), and none under ${prefix}. Move them (docs/operations.md, "Streams without a prefix"), set EVENT_STORE_STREAM_PREFIX to nothing, or name another server.`,
    );
  if (await hasDocuments())
    throw new StartupError(
      `EVENT_STORE_STREAM_PREFIX: the read store was filled from another log, and the server of EVENT_STORE_URL has no streams under ${prefix}. Set EVENT_STORE_STREAM_PREFIX and EVENT_STORE_URL to those of that log, or READ_STORE_URL to an empty store.`,
    );
}
