import { Counter, collectDefaultMetrics, Gauge, type GaugeConfiguration, Histogram, Registry } from 'prom-client';
import type { LimitFigures } from '#exchange/admission.ts';
import { keptCount, keptNames } from '#exchange/held.ts';
import type { ConnectionFigures } from '#http/request/connections.ts';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import type { UnknownEventType } from '#read-store/read-store.ts';
import { Batcher } from '#shared/async/batcher.ts';

export interface Stopped {
  readonly kind: 'projection' | 'process';
  readonly name: string;
  readonly eventId: string;
  readonly position: number;
}

export interface ProjectionLag {
  readonly name: string;
  /** The number of positions between the end of the log and the documents that queries read. */
  readonly positions: number;
}

/** The streams that lacked events when the documents of a projection were built. */
export interface FoundIncomplete {
  readonly name: string;
  readonly count: number;
}

export interface Metrics {
  /** `operation` is its name, never its path. */
  readonly request: (operation: string, method: string, status: number, seconds: number) => void;
  /** Counts refused commands, too. */
  readonly command: (name: string, seconds: number) => void;
  /** Appends that one write to disk made durable. */
  readonly appendBatch: (commit: { readonly appends: number }) => void;
  readonly mongoDbCommand: (ended: EndedCommand) => void;
  /** Counts of events of unknown types. All sources that are watched are read with the metrics. */
  readonly watchUnknownEvents: (unknown: () => Promise<ReadonlyArray<UnknownEventType>>) => void;
  /** Stopped projections and processes. */
  readonly watchStopped: (stopped: () => Promise<ReadonlyArray<Stopped>>) => void;
  readonly watchIncompleteStreams: (found: () => ReadonlyArray<FoundIncomplete>) => void;
  readonly watchGauge: (name: string, help: string, figure: () => number) => void;
  readonly watchProjections: (lags: () => Promise<ReadonlyArray<ProjectionLag>>) => void;
  readonly watchLimits: (figures: () => Readonly<Record<string, LimitFigures>>) => void;
  readonly watchConnections: (figures: () => ConnectionFigures) => void;
  readonly registry: Registry;
  readonly text: () => Promise<string>;
  readonly contentType: string;
  readonly close: () => void;
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface AnsweredRequest {
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/**
 * How often the delay of the event loop is sampled, in milliseconds. The default of 10 wakes a process at rest a hundred
 * times a second, which took more processor time than everything else.
 */
const eventLoopMonitoringPrecision = 50;

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  const answered = new Batcher<AnsweredRequest>((batch) => {
    for (const { operation, method, status, seconds: took } of batch)
      requests.observe({ operation, method, status }, took);
  });
  const requests = new Histogram({
    name: 'switchyard_http_request_duration_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['operation', 'method', 'status'],
    buckets: seconds,
    registers: [registry],
    collect: () => answered.drain(),
  });
  const commands = new Histogram({
    name: 'switchyard_command_duration_seconds',
    help: 'Time to execute a command, until it is durable and shown',
    labelNames: ['command'],
    buckets: seconds,
    registers: [registry],
  });
  const batches = new Histogram({
    name: 'switchyard_append_batch_size',
    help: 'Appends made durable together',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [registry],
  });
  const mongoDbCommands = new Counter({
    name: 'switchyard_mongodb_commands_total',
    help: 'Commands that this node sent to MongoDB',
    labelNames: ['command', 'outcome'],
    registers: [registry],
  });
  const mongoDbDurations = new Histogram({
    name: 'switchyard_mongodb_command_duration_seconds',
    help: 'Time from a command to the answer of MongoDB',
    labelNames: ['command'],
    buckets: seconds,
    registers: [registry],
  });

  watchKept(registry);

  return {
    request: (operation, method, status, took) => answered.add({ operation, method, status, seconds: took }),
    command: (command, value) => commands.observe({ command }, value),
    appendBatch: ({ appends }) => batches.observe(appends),
    mongoDbCommand: ({ command, outcome, milliseconds }) => {
      mongoDbCommands.inc({ command, outcome });
      mongoDbDurations.observe({ command }, milliseconds / 1_000);
    },
    watchGauge: (name, help, figure) => watchGauge(registry, name, help, figure),
    watchProjections: (lags) => watchProjections(registry, lags),
    watchUnknownEvents: (unknown) => watchUnknownEvents(registry, unknown),
    watchIncompleteStreams: (found) => watchIncompleteStreams(registry, found),
    watchStopped: (stopped) => watchStopped(registry, stopped),
    watchLimits: (figures) => watchLimits(registry, figures),
    watchConnections: (figures) => watchConnections(registry, figures),
    registry,
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}

type Labelled = readonly [labels: Readonly<Record<string, string>>, figure: number];

/** Figures that are no longer there are no longer shown. */
function watchFigures(
  registry: Registry,
  shown: Pick<GaugeConfiguration<string>, 'name' | 'help' | 'labelNames'>,
  figures: () => Promise<ReadonlyArray<Labelled>> | ReadonlyArray<Labelled>,
): void {
  new Gauge<string>({
    ...shown,
    registers: [registry],
    async collect() {
      this.reset();
      for (const [labels, figure] of await figures()) this.set(labels, figure);
    },
  });
}

function watchGauge(registry: Registry, name: string, help: string, figure: () => number): void {
  watchFigures(registry, { name, help }, () => [[{}, figure()]]);
}

function watchConnections(registry: Registry, figures: () => ConnectionFigures): void {
  watchGauge(registry, 'switchyard_connections', 'Connections of clients that are open', () => figures().open);
  watchGauge(
    registry,
    'switchyard_connections_without_head',
    'Connections that have not sent a complete head of a request',
    () => figures().withoutHead,
  );
  watchGauge(registry, 'switchyard_arriving_bodies', 'Bodies of requests that arrive', () => figures().arrivingBodies);
  new Counter({
    name: 'switchyard_connections_refused_total',
    help: 'Connections that were not served, or ended early, because connections are scarce',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(figures().refused)) this.inc({ reason }, count);
    },
  });
}

function watchKept(registry: Registry): void {
  const help = 'What continues although nobody waits for its answer';
  watchFigures(registry, { name: 'switchyard_kept', help, labelNames: ['name'] }, () =>
    keptNames.map((name) => [{ name }, keptCount(name)]),
  );
}

function watchLimits(registry: Registry, figures: () => Readonly<Record<string, LimitFigures>>): void {
  const labelNames = ['name'];
  const shown = (figureOf: (of: LimitFigures) => number | null) => () =>
    Object.entries(figures()).flatMap(([name, of]): ReadonlyArray<Labelled> => {
      const figure = figureOf(of);
      return figure === null ? [] : [[{ name }, figure]];
    });
  const gauge = (name: string, help: string, figureOf: (of: LimitFigures) => number | null) =>
    watchFigures(registry, { name, help, labelNames }, shown(figureOf));
  gauge('switchyard_limit_taken', 'Slots, places or bytes that are taken', ({ taken }) => taken);
  gauge('switchyard_limit_waiting', 'Callers that wait for a slot', ({ waiting }) => waiting);
  gauge('switchyard_limit_max', 'Maximum of the node; absent where only each project has one', ({ limit }) => limit);
  const countRefused = shown(({ refused }) => refused);
  new Counter({
    name: 'switchyard_limit_refused_total',
    help: 'Callers that got no slot, place or bytes',
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, count] of countRefused()) this.inc(labels, count);
    },
  });
}

function watchProjections(registry: Registry, lags: () => Promise<ReadonlyArray<ProjectionLag>>): void {
  const name = 'switchyard_projection_lag_positions';
  const help = 'Positions between the end of the log and what queries read';
  watchFigures(registry, { name, help, labelNames: ['projection'] }, async () =>
    (await lags()).map((lag) => [{ projection: lag.name }, lag.positions]),
  );
}

function watchStopped(registry: Registry, stopped: () => Promise<ReadonlyArray<Stopped>>): void {
  const name = 'switchyard_stopped_at_position';
  const help = 'Position of the event at which a projection or process has stopped; absent while it runs';
  watchFigures(registry, { name, help, labelNames: ['kind', 'name', 'event_id'] }, async () =>
    (await stopped()).map((one) => [{ kind: one.kind, name: one.name, event_id: one.eventId }, one.position]),
  );
}

function watchIncompleteStreams(registry: Registry, found: () => ReadonlyArray<FoundIncomplete>): void {
  const name = 'switchyard_incomplete_streams';
  const help = 'Streams that lacked events when the read model was built; more than 0 is an alarm';
  watchFigures(registry, { name, help, labelNames: ['projection'] }, () =>
    found().map((one) => [{ projection: one.name }, one.count]),
  );
}

function watchUnknownEvents(registry: Registry, unknown: () => Promise<ReadonlyArray<UnknownEventType>>): void {
  const name = 'switchyard_unknown_events';
  const help = 'Events in the log of types that this release does not know';
  watchFigures(registry, { name, help, labelNames: ['type'] }, async () =>
    (await unknown()).map(({ type, count }) => [{ type }, count]),
  );
}
