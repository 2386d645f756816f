import assert from 'node:assert/strict';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { Reply } from '#test/support/service/client.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import { describeOnFerretDb, type FerretDb } from '#test/support/service/ferretdb.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { type ServiceProcess, until } from '#test/support/service/service-process.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import { expectSound, expectVerified } from './consistent-stores.ts';
import { expectStatus } from './expect.ts';
import { answeredInTime, SettlingLoad } from './settling-load.ts';

const startLimitMilliseconds = 120_000;
const recoveryLimitMilliseconds = 120_000;
/** Longer than a call to a store may take. */
const lateMilliseconds = 6_000;
/** Acknowledged before a fault begins: it strikes in the middle of work. */
const workFirst = 10;

/** A node, and what stands between it and each store. */
export interface ProxiedNode {
  readonly service: ServiceProcess;
  readonly events: TcpProxy;
  readonly documents: TcpProxy;
}

/**
 * Describes faults of stores that nodes share, one after the other: each begins in the middle of work. What was stored
 * through all of them is verified in the end.
 * @param define is handed what gives the stores, to be asked in tests
 */
export function describeFaults(suite: string, define: (stores: () => FaultyStores, ferret: FerretDb) => void): void {
  describeOnFerretDb(suite, (ferret) => {
    let started: FaultyStores | null = null;
    const stores = () => {
      if (started === null) throw new Error('the stores are not started');
      return started;
    };
    before(async function () {
      this.timeout(startLimitMilliseconds);
      started = await FaultyStores.start(ferret);
    });
    after(async function () {
      this.timeout(recoveryLimitMilliseconds);
      try {
        await started?.rest();
        // The chains of what was stored through all faults must hold.
        if (started !== null) await expectVerified(started.urls);
      } finally {
        await started?.end();
      }
    });
    beforeEach(() => stores().begin());
    afterEach(() => started?.rest());
    define(stores, ferret);
  });
}

/**
 * EventStoreDB's double and a FerretDB, each in a process of its own, and two nodes that reach each of them through a
 * proxy of their own. One of the nodes is under a load of commands.
 */
export class FaultyStores {
  readonly double: EventStoreDbDoubleProcess;
  /** Takes the commands. */
  readonly control: ProxiedNode;
  /** Runs projections and processes. */
  readonly projecting: ProxiedNode;
  readonly #readStoreUrl: string;
  readonly #opened: AsyncDisposableStack;
  #load: SettlingLoad | null = null;

  private constructor(
    double: EventStoreDbDoubleProcess,
    readStoreUrl: string,
    [control, projecting]: readonly [ProxiedNode, ProxiedNode],
    opened: AsyncDisposableStack,
  ) {
    this.double = double;
    this.#readStoreUrl = readStoreUrl;
    this.control = control;
    this.projecting = projecting;
    this.#opened = opened;
  }

  /** Starts all of it but the FerretDB, which runs already. */
  static async start(ferret: FerretDb): Promise<FaultyStores> {
    const opened = new AsyncDisposableStack();
    try {
      const double = await EventStoreDbDoubleProcess.start();
      opened.defer(() => double.end());
      const readStoreUrl = ferret.newUrl();
      const nodes = new Nodes({ environment: () => ({}), quick: false });
      opened.defer(() => nodes.end());
      const proxyOf = async (port: number) => {
        const proxy = new TcpProxy(port);
        await proxy.listen();
        opened.defer(() => proxy.close());
        return proxy;
      };
      const begin = async (roles: string): Promise<ProxiedNode> => {
        const [events, documents] = await Promise.all([proxyOf(double.port), proxyOf(ferret.port)]);
        const service = nodes.begin(roles, {
          EVENT_STORE_URL: events.through(double.url),
          READ_STORE_URL: documents.through(readStoreUrl),
        });
        return { service, events, documents };
      };
      const both = [await begin('control-plane'), await begin('projections')] as const;
      await Promise.all(both.map(({ service }) => service.listening()));
      return new FaultyStores(double, readStoreUrl, both, opened);
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
  }

  /** The node that takes the commands, to its clients. */
  get client() {
    return this.control.service.client;
  }

  /** The addresses of the stores, past the proxies. */
  get urls(): SharedStores {
    return { eventStoreUrl: this.double.url, readStoreUrl: this.#readStoreUrl };
  }

  /** Lets a store's answers come too late to both nodes, expects what follows from it, and that all recovers. */
  async bringLateAnswers(of: 'events' | 'documents', expectRefused: () => Promise<void>): Promise<void> {
    const proxies = [this.control[of], this.projecting[of]];
    for (const proxy of proxies) proxy.delay(lateMilliseconds);
    await expectRefused();
    for (const proxy of proxies) proxy.delay(0);
    await this.expectRecovery();
  }

  /** Makes a project. @returns its path, and the position at which it was made */
  async newProject(): Promise<{ readonly path: string; readonly position: string }> {
    const made = await this.client.post<{ id: string }>('/v1/projects', { name: 'P' });
    const { id } = expectStatus(made, 201);
    return { path: `/v1/projects/${id}`, position: made.headers['switchyard-position'] ?? '' };
  }

  /** Asks for a project and for a new flow in it, each to be answered in time. */
  askFor(path: string): Promise<readonly [Reply<unknown>, Reply<unknown>]> {
    return Promise.all([
      answeredInTime(() => this.client.get(path), 'reading'),
      answeredInTime(() => this.client.post(`${path}/flows`, { name: 'F', flowSchema: {} }), 'creating'),
    ]);
  }

  /** Has commands sent without a pause. */
  async begin(): Promise<void> {
    this.#load = await SettlingLoad.begin(this.client);
    await this.expectMore(workFirst);
  }

  /** Waits until so many more commands were acknowledged. */
  expectMore(count: number): Promise<void> {
    return this.#loaded.expectMore(count);
  }

  /** Waits until commands were answered by 503. */
  expectUnavailable(): Promise<void> {
    return this.#loaded.expectUnavailable();
  }

  /** The node that takes the commands says what it lacks, and that it lives. */
  async expectNotReady(check: string): Promise<void> {
    const ask = () => this.client.get<{ checks: ReadonlyArray<{ name: string; ready: boolean }> }>('/readyz');
    const reply = await answeredInTime(ask, 'asking whether it is ready');
    const { checks } = expectStatus(reply, 503);
    assert.ok(
      checks.some(({ name, ready }) => name === check && !ready),
      reply.text,
    );
    expectStatus(await this.client.get('/healthz'), 200);
  }

  /** Commands go on to be acknowledged, all of them, nodes are ready, and nothing was lost or doubled. */
  async expectRecovery(): Promise<void> {
    await this.expectMore(workFirst);
    await this.#loaded.stop();
    for (const { service } of [this.control, this.projecting]) {
      const ready = async () => (await service.client.get('/readyz')).status === 200;
      if (!(await until(ready, recoveryLimitMilliseconds))) expectStatus(await service.client.get('/readyz'), 200);
    }
    await expectSound(this.urls, this.#loaded.acknowledged);
  }

  /** Ends the load, whatever became of it. */
  async rest(): Promise<void> {
    await this.#load?.stop().catch(() => undefined);
    this.#load = null;
  }

  /** Ends all that was started. */
  end(): Promise<void> {
    return this.#opened.disposeAsync();
  }

  get #loaded(): SettlingLoad {
    if (this.#load === null) throw new Error('no load was begun');
    return this.#load;
  }
}
