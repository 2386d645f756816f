import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { Client } from '#test/support/service/client.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import type { MongoDbProcess } from '#test/support/service/mongodb-process.ts';
import { Nodes, projectingNode } from '#test/support/service/nodes.ts';
import { type ServiceProcess, temporaryFolder } from '#test/support/service/service-process.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { LineProvider } from './line-provider.ts';

/** Calls that a node makes for batches at a time: so many lines may be asked twice when it is killed. */
const batchCalls = 4;

/** A node with all roles, which reaches each store through a proxy of its own. */
export interface FaultyNode {
  readonly service: ServiceProcess;
  readonly events: TcpProxy;
  readonly documents: TcpProxy;
}

/**
 * Nodes on the double of EventStoreDB and a MongoDB, each in a process of its own, with a receiver of webhooks and a provider
 * for the lines of batches.
 */
export class FaultyNodes {
  readonly double: EventStoreDbDoubleProcess;
  readonly mongoDb: MongoDbProcess;
  readonly receiver = new WebhookReceiver();
  readonly provider: LineProvider;
  readonly #readStoreUrl: string;
  readonly #nodes = new Nodes({ environment: () => ({}) });
  readonly #opened: AsyncDisposableStack;
  readonly #live: FaultyNode[] = [];
  readonly #configuration: string;

  private constructor(
    double: EventStoreDbDoubleProcess,
    mongoDb: MongoDbProcess,
    provider: LineProvider,
    opened: AsyncDisposableStack,
  ) {
    this.double = double;
    this.mongoDb = mongoDb;
    this.provider = provider;
    this.#readStoreUrl = mongoDb.newUrl();
    this.#opened = opened;
    const folder = temporaryFolder();
    opened.defer(() => folder.remove());
    this.#configuration = join(folder.path, 'gateway.json');
    writeFileSync(this.#configuration, JSON.stringify(provider.configuration));
  }

  /** Starts the stores and the nodes, and waits until they are ready. The MongoDB runs already. */
  static async start(mongoDb: MongoDbProcess, count: number): Promise<FaultyNodes> {
    const opened = new AsyncDisposableStack();
    try {
      const double = await EventStoreDbDoubleProcess.start();
      opened.defer(() => double.end());
      const provider = await LineProvider.start();
      opened.defer(() => provider.stop());
      const started = new FaultyNodes(double, mongoDb, provider, opened);
      await started.receiver.start();
      opened.defer(() => started.receiver.close());
      opened.defer(() => started.#nodes.end());
      const nodes = await Promise.all(Array.from({ length: count }, () => started.#begin()));
      await Promise.all(nodes.map(({ service }) => service.listening()));
      started.#live.push(...nodes);
      return started;
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
  }

  /** The nodes that listen. */
  get live(): ReadonlyArray<FaultyNode> {
    return this.#live;
  }

  get clients(): ReadonlyArray<Client> {
    return this.#live.map(({ service }) => service.client);
  }

  /** The addresses of the stores, without the proxies. */
  get urls(): SharedStores {
    return { eventStoreUrl: this.double.url, readStoreUrl: this.#readStoreUrl };
  }

  /** The node that runs the projections, as the others report it; any node while none does. */
  async holder(): Promise<FaultyNode> {
    const services = this.#live.map(({ service }) => service);
    for (const client of this.clients) {
      const holding = await projectingNode(client, services).catch(() => null);
      const node = this.#live.find(({ service }) => service === holding);
      if (node !== undefined) return node;
    }
    const [first] = this.#live;
    if (first === undefined) throw new Error('No node listens.');
    return first;
  }

  /** Kills a node, and starts another one in its place. @returns when the new one listens, ready or not */
  async replace(node: FaultyNode): Promise<void> {
    this.#live.splice(this.#live.indexOf(node), 1);
    await node.service.kill();
    await this.add();
  }

  /** Starts a further node. @returns when it listens, ready or not */
  async add(): Promise<void> {
    const begun = await this.#begin();
    await begun.service.announced();
    this.#live.push(begun);
  }

  /** Ends all nodes and stores, but for the MongoDB. */
  end(): Promise<void> {
    return this.#opened.disposeAsync();
  }

  async #begin(): Promise<FaultyNode> {
    const [events, documents] = await Promise.all([this.#proxyOf(this.double.port), this.#proxyOf(this.mongoDb.port)]);
    const service = this.#nodes.begin(undefined, {
      EVENT_STORE_URL: events.through(this.double.url),
      READ_STORE_URL: documents.through(this.#readStoreUrl),
      GATEWAY_CONFIG: this.#configuration,
      PROVIDER_KEY: 'any',
      BATCH_CALLS_AT_ONCE: String(batchCalls),
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      LOG_LEVEL: 'info',
    });
    return { service, events, documents };
  }

  async #proxyOf(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    await proxy.listen();
    this.#opened.defer(() => proxy.close());
    return proxy;
  }
}
