import assert from 'node:assert/strict';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { Reply } from '#test/support/service/client.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import type { MongoDbProcess } from '#test/support/service/mongodb-process.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { poll, type ServiceProcess } from '#test/support/service/service-process.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import { expectConsistent, expectVerified } from './consistent-stores.ts';
import { expectStatus } from './expect.ts';
import { answeredInTime, SettlingLoad } from './settling-load.ts';

const startTimeoutMs = 120_000;
const recoveryTimeoutMs = 120_000;
/** Longer than a call to a store may take. */
const lateMs = 6_000;
/** The commands that are acknowledged before a fault begins, so that it comes under load. */
const commandsBeforeFault = 10;

/** A node with a proxy in front of each store. */
export interface ProxiedNode {
  readonly service: ServiceProcess;
  readonly events: TcpProxy;
  readonly documents: TcpProxy;
}

/**
 * Describes faults of shared stores, one after the other, each under load. Finally the hash chains of everything that was
 * stored are verified.
 * @param define receives a function that returns the stores; call it in hooks and tests only
 */
export function describeFaults(
  suite: string,
  define: (stores: () => FaultyStores, mongoDb: MongoDbProcess) => void,
): void {
  describeOnOwnMongoDb(suite, (mongoDb) => {
    let started: FaultyStores | null = null;
    const stores = () => {
      if (started === null) throw new Error('the stores are not started');
      return started;
    };
    before(async function () {
      this.timeout(startTimeoutMs);
      started = await FaultyStores.start(mongoDb);
    });
    after(async function () {
      this.timeout(recoveryTimeoutMs);
      try {
        await started?.stopLoad();
        // The hash chains must be intact after all faults.
        if (started !== null) await expectVerified(started.urls);
      } finally {
        await started?.end();
      }
    });
    beforeEach(() => stores().begin());
    afterEach(() => started?.stopLoad());
    define(stores, mongoDb);
  });
}

/**
 * The double of EventStoreDB and a MongoDB, each in its own process, and two nodes that reach each of them through their
 * own proxies. One of the nodes is under a load of commands.
 */
export class FaultyStores {
  readonly double: EventStoreDbDoubleProcess;
  /** The node that accepts commands. */
  readonly control: ProxiedNode;
  /** The node that runs projections and processes. */
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

  /** Starts the double, the proxies and the nodes. The MongoDB runs already. */
  static async start(mongoDb: MongoDbProcess): Promise<FaultyStores> {
    const opened = new AsyncDisposableStack();
    try {
      const double = await EventStoreDbDoubleProcess.start();
      opened.defer(() => double.end());
      const readStoreUrl = mongoDb.newUrl();
      const nodes = new Nodes({ environment: () => ({}) });
      opened.defer(() => nodes.end());
      const proxyOf = async (port: number) => {
        const proxy = new TcpProxy(port);
        await proxy.listen();
        opened.defer(() => proxy.close());
        return proxy;
      };
      const begin = async (roles: string): Promise<ProxiedNode> => {
        const [events, documents] = await Promise.all([proxyOf(double.port), proxyOf(mongoDb.port)]);
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

  /** A client of the node that accepts commands. */
  get client() {
    return this.control.service.client;
  }

  /** The addresses of the stores, without the proxies. */
  get urls(): SharedStores {
    return { eventStoreUrl: this.double.url, readStoreUrl: this.#readStoreUrl };
  }

  /** Delays a store's answers to both nodes beyond their timeouts, expects refusals, and then recovery. */
  async delayAnswers(of: 'events' | 'documents', expectRefused: () => Promise<void>): Promise<void> {
    const proxies = [this.control[of], this.projecting[of]];
    for (const proxy of proxies) proxy.delay(lateMs);
    await expectRefused();
    for (const proxy of proxies) proxy.delay(0);
    await this.expectRecovery();
  }

  /** Creates a project. @returns its path and the position of its creation */
  async newProject(): Promise<{ readonly path: string; readonly position: string }> {
    const made = await this.client.post<{ id: string }>('/v1/projects', { name: 'P' });
    const { id } = expectStatus(made, 201);
    return { path: `/v1/projects/${id}`, position: made.headers['switchyard-position'] ?? '' };
  }

  /** Reads a project and creates a flow in it. Both must be answered in time. */
  readAndWrite(path: string): Promise<readonly [Reply<unknown>, Reply<unknown>]> {
    return Promise.all([
      answeredInTime(() => this.client.get(path), 'reading'),
      answeredInTime(() => this.client.post(`${path}/flows`, { name: 'F', flowSchema: {} }), 'creating'),
    ]);
  }

  /** Starts a continuous load of commands. */
  async begin(): Promise<void> {
    this.#load = await SettlingLoad.begin(this.client);
    await this.expectMore(commandsBeforeFault);
  }

  /** Waits until this many further commands were acknowledged. */
  expectMore(count: number): Promise<void> {
    return this.#loaded.expectMore(count);
  }

  /** Waits until commands were answered with 503. */
  expectUnavailable(): Promise<void> {
    return this.#loaded.expectUnavailable();
  }

  /** Asserts that the node that accepts commands reports the failed check, and that it is alive. */
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

  /** Asserts that all commands are acknowledged again, that nodes are ready, and that nothing was lost or stored twice. */
  async expectRecovery(): Promise<void> {
    await this.expectMore(commandsBeforeFault);
    await this.#loaded.stop();
    for (const { service } of [this.control, this.projecting]) {
      const ready = async () => (await service.client.get('/readyz')).status === 200;
      if (!(await poll(ready, recoveryTimeoutMs))) expectStatus(await service.client.get('/readyz'), 200);
    }
    await expectConsistent(this.urls, this.#loaded.acknowledged);
  }

  /** Ends the load, even after a failure. */
  async stopLoad(): Promise<void> {
    await this.#load?.stop().catch(() => undefined);
    this.#load = null;
  }

  /** Ends everything that was started. */
  end(): Promise<void> {
    return this.#opened.disposeAsync();
  }

  get #loaded(): SettlingLoad {
    if (this.#load === null) throw new Error('the load was not started');
    return this.#load;
  }
}
