import * as E from 'fp-ts/lib/Either.js';
import { limited } from '#app/stores/limited.ts';
import { blobLimits, leaseLimits, readStoreLimits, recordLimits, serverLogLimits } from '#app/stores/port-limits.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { type Process, type ProcessTools, process, sideEffect } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { organizationCreated } from '#test/support/events/organization-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

export const leaseSteps = ['lease.look', 'lease.begin', 'lease.renew', 'lease.release'] as const;
export const recordSteps = ['records.take', 'records.get', 'records.put'] as const;
/** The calls of the event store. The tail and the commands ask for its end, each for themselves. */
export const logSteps = [
  'log.readPage',
  'log.lastPosition',
  'log.eventAt',
  'log.waitPast',
  'store.lastPosition',
  'store.read',
  'store.append',
] as const;
/** Each call that a term of the processes waits for. */
export const steps = [
  ...leaseSteps,
  ...recordSteps,
  ...logSteps,
  'documents.list',
  'wait-for-position',
  'port',
] as const;
export type Step = (typeof steps)[number];

export const faults = [
  'throws',
  'throws TypeError',
  'throws FencedError',
  'throws after 5 s',
  'never answers',
  'answers after 4 s',
  'acts after 4 s',
] as const;
export type Fault = (typeof faults)[number];

/** EventStoreDB's adapter settles an append after this time. */
const appendLimitMs = 5_000;

/** One node with five processes, whose stores have faults while a test wants them. */
export class FaultyWorld implements AsyncDisposable {
  readonly time = new SimulatedTime(new Random(1)).install();
  readonly records = new InMemoryRecordStore();
  readonly checkpoints = new ProcessCheckpoints(this.records);
  readonly #log = new AppendableEventStore();
  readonly #writer = new StreamWriter({ store: this.#log });
  readonly #leases = new InMemoryLeaseStore();
  readonly #effects = new Set<string>();
  readonly #tail: LogTail;
  readonly #host: ProcessHost;
  /** The steps that have a fault now. */
  faulty: ReadonlySet<Step> = new Set();
  fault: Fault = 'throws';
  /** Whether no renewal of a lease arrives. */
  losesLease = false;
  /** How often a fault was met. */
  hits = 0;

  constructor() {
    const line = () => undefined;
    const log = { info: line, warn: line, error: line };
    const inner = this.#log;
    const store = this.#limitedLog({
      append: (...given) => this.#at('store.append', () => inner.append(...given)),
      read: (...given) => this.#at('store.read', () => inner.read(...given)),
      lastPosition: () => this.#at('store.lastPosition', () => inner.lastPosition()),
      changes: inner.changes,
    });
    const pages = this.#limitedLog({
      readPage: (request) => this.#at('log.readPage', () => inner.readPage(request)),
      lastPosition: () => this.#at('log.lastPosition', () => inner.lastPosition()),
      eventAt: (position) => this.#at('log.eventAt', () => inner.eventAt(position)),
      changes: {
        waitPast: (position, signal) => this.#at('log.waitPast', () => inner.changes.waitPast(position, signal)),
        onStreamRemoved: (listener) => inner.changes.onStreamRemoved(listener),
        onDoubt: (listener) => inner.changes.onDoubt(listener),
      },
    });
    this.#tail = new LogTail({ pages, log, graceMs: 0 });
    this.#host = new ProcessHost({
      processes: this.#processes(),
      store,
      tail: this.#tail,
      writer: new StreamWriter({ store }),
      documents: limited(this.#faultyOf(new ReadModel(inner.log), { list: 'documents.list' }), readStoreLimits),
      waitForPosition: (_collection, _position, { ms }) =>
        withTimeout(
          ms,
          this.#at('wait-for-position', async () => true),
          false,
        ),
      checkpoints: new ProcessCheckpoints(
        limited(
          this.#faultyOf(this.records, { take: 'records.take', get: 'records.get', put: 'records.put' }),
          recordLimits,
        ),
      ),
      positions: new FollowedPositions(),
      leases: new NodeLeases({
        store: limited(
          this.#faultyOf(this.#leases, {
            newestOfAll: 'lease.look',
            begin: 'lease.begin',
            renewAll: 'lease.renew',
            release: 'lease.release',
          }),
          leaseLimits,
        ),
      }),
      node: 'one',
      log,
    });
    this.#host.start();
  }

  /** Creates an organization, to which every process reacts. */
  create(id: string): Promise<number> {
    return organizationCreated(this.#writer, id);
  }

  /** The processes that have not reacted to an organization. */
  missing(id: string): ReadonlyArray<string> {
    const projects = ['in-order', 'by-documents', 'at-once'].filter(
      (name) => this.#log.types(`project-${name}${id}`).length === 0,
    );
    const effects = ['effect-in-order', 'effect-at-once'].filter((name) => !this.#effects.has(`${name}${id}`));
    return [...projects, ...effects];
  }

  /** The streams that were begun twice or more. */
  get repeated(): ReadonlyArray<string> {
    const begun = this.#log.log.filter(({ type }) => type === 'ProjectCreated').map(({ stream }) => stream);
    return begun.filter((stream, index) => begun.indexOf(stream) !== index);
  }

  /** The position that every stored checkpoint has passed. */
  async savedPosition(): Promise<number> {
    const { checkpoints = {} } = (await this.checkpoints.read()) ?? {};
    return Math.min(...Object.values(checkpoints).map(({ position }) => position));
  }

  /** @returns whether the processes have stopped within a time */
  async stop(limitMs: number): Promise<boolean> {
    let hasStopped = false;
    void this.#host.stop().then(() => {
      hasStopped = true;
    });
    return this.time.passUntil(() => hasStopped, limitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(60_000);
    const closing = this.#tail.close();
    await this.time.pass(60_000);
    await closing;
    this.time[Symbol.dispose]();
  }

  /** The steps of one adapter's calls get the faults. */
  #faultyOf<Port extends object>(port: Port, named: { readonly [Name in keyof Port]?: Step }): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        const step = named[name as keyof Port];
        if (typeof member !== 'function' || step === undefined) return member;
        return (...given: ReadonlyArray<unknown>) => this.#at(step, () => Reflect.apply(member, target, given));
      },
    });
  }

  #limitedLog(log: Partial<EventStoreDbEventStore>) {
    const calls = { ...serverLogLimits.calls, append: appendLimitMs };
    return limited(log as EventStoreDbEventStore, { ...serverLogLimits, calls });
  }

  async #at<Result>(step: Step, act: () => Promise<Result>): Promise<Result> {
    if (step === 'lease.renew' && this.losesLease) throw new UnavailableError('The renewal was lost.');
    if (!this.faulty.has(step)) return act();
    this.hits += 1;
    switch (this.fault) {
      case 'throws':
        throw new UnavailableError('It is unavailable.');
      case 'throws TypeError':
        throw new TypeError('It is undefined.');
      case 'throws FencedError':
        throw new FencedError('It is fenced.');
      case 'throws after 5 s':
        await this.time.wait(5_000);
        throw new UnavailableError('It has not answered in time.');
      case 'never answers':
        return new Promise<Result>(() => undefined);
      case 'answers after 4 s': {
        const result = await act();
        await this.time.wait(4_000);
        return result;
      }
      case 'acts after 4 s':
        await this.time.wait(4_000);
        return act();
    }
  }

  #processes(): ReadonlyArray<Process> {
    const port = limited(
      { delete: (id: string) => this.#at('port', async () => void this.#effects.add(id)) } as BlobStore,
      blobLimits,
    );
    return [
      process<OrganizationEvents>({ name: 'in-order', on: { OrganizationCreated: makes('in-order') } }),
      process<OrganizationEvents>({
        name: 'by-documents',
        on: {
          OrganizationCreated: async (event, tools) => {
            const documents = await tools.documentsUpToDate('projects');
            await documents.list('projects', {}, { limit: 1, maxBytes: 1e6 });
            await makes('by-documents')(event, tools);
          },
        },
      }),
      process<OrganizationEvents>({ name: 'at-once', concurrency: 4, on: { OrganizationCreated: makes('at-once') } }),
      sideEffect<OrganizationEvents, 'OrganizationCreated'>({
        name: 'effect-in-order',
        on: ['OrganizationCreated'],
        run: ({ id }) => port.delete(`effect-in-order${id}`),
      }),
      sideEffect<OrganizationEvents, 'OrganizationCreated'>({
        name: 'effect-at-once',
        concurrency: 2,
        on: ['OrganizationCreated'],
        run: ({ id }) => port.delete(`effect-at-once${id}`),
      }),
    ];
  }
}

/** A reaction that begins a stream, named after the process and the organization. */
function makes(name: string) {
  return ({ data }: { readonly data: { readonly id: string } }, { write }: ProcessTools) => {
    const id = `${name}${data.id}`;
    return write({
      entity: project,
      id,
      decide: ({ state }) =>
        E.right({
          events: state === null ? [newEvent('ProjectCreated', { id, organizationId: data.id, name })] : [],
          tenant: { organizationId: data.id, projectId: id, partnerId: null },
        }),
    });
  };
}
