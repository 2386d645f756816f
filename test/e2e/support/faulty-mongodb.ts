import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import { FaultyMongoDbProxy } from '#test/support/service/faulty-mongodb-proxy.ts';
import type { MongoDbProcess } from '#test/support/service/mongodb-process.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import type { ServiceProcess } from '#test/support/service/service-process.ts';

/** A line of a service's log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** The levels of lines of a log from this one on are errors. */
export const errorLevel = 50;

/** Nodes with all roles on a double of EventStoreDB, and on a MongoDB that they reach through a faulty proxy. */
export class NodesOnFaultyMongoDb {
  readonly proxy: FaultyMongoDbProxy;
  readonly nodes: ReadonlyArray<ServiceProcess>;
  /** The addresses of the stores, without the proxy. */
  readonly urls: SharedStores;
  readonly #opened: AsyncDisposableStack;

  private constructor(
    proxy: FaultyMongoDbProxy,
    nodes: ReadonlyArray<ServiceProcess>,
    urls: SharedStores,
    opened: AsyncDisposableStack,
  ) {
    this.proxy = proxy;
    this.nodes = nodes;
    this.urls = urls;
    this.#opened = opened;
  }

  /** Starts the double, the proxy and the nodes, without faults. The MongoDB runs already. */
  static async start(mongoDb: MongoDbProcess, count = 1): Promise<NodesOnFaultyMongoDb> {
    const opened = new AsyncDisposableStack();
    try {
      const double = await EventStoreDbDoubleProcess.start();
      opened.defer(() => double.end());
      const proxy = new FaultyMongoDbProxy(mongoDb.port);
      await proxy.listen();
      opened.defer(() => proxy.close());
      const urls = { eventStoreUrl: double.url, readStoreUrl: mongoDb.newUrl() };
      const environment = { EVENT_STORE_URL: urls.eventStoreUrl, READ_STORE_URL: proxy.through(urls.readStoreUrl) };
      const nodes = new Nodes({ environment: () => environment });
      opened.defer(() => nodes.end());
      const begun = Array.from({ length: count }, () => nodes.begin(undefined, { LOG_LEVEL: 'warn' }));
      await Promise.all(begun.map((node) => node.listening()));
      return new NodesOnFaultyMongoDb(proxy, begun, urls, opened);
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
  }

  /** The lines that the nodes have logged so far: warnings and errors. */
  get log(): ReadonlyArray<LogLine> {
    const lines = this.nodes.flatMap(({ stdout, stderr }) => `${stdout}\n${stderr}`.split('\n'));
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }

  /** Ends everything that was started. */
  end(): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
