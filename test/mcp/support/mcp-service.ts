import { type RunningService, runningService } from '#test/e2e/support/running-service.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import type { ServiceEnvironment } from '#test/support/service/service-process.ts';
import { connect, type Dialect, type McpClient } from './mcp-clients.ts';

/** A service with `/mcp`, and clients of it that are closed after the suite. */
export interface McpService extends RunningService {
  /** The address of `/mcp`. Read it in hooks and tests only. */
  readonly mcpUrl: string;
  /** Connects a client. @param query of the address, with its question mark */
  readonly connect: (key?: string, query?: string, dialect?: Dialect) => Promise<McpClient>;
}

/** Starts a service before a suite, and ends it with its clients after it. Call it in the callback of `describe`. */
export function mcpService(environment: ServiceEnvironment = {}): McpService {
  const clients: McpClient[] = [];
  after(async () => {
    for (const client of clients) await client.close();
  });
  const running = runningService({ environment: () => environment } as Parameters<typeof runningService>[0]);
  return {
    get client() {
      return running.client;
    },
    get url() {
      return running.url;
    },
    get mcpUrl() {
      return `${running.url}/mcp`;
    },
    dataDir: running.dataDir,
    restarted: running.restarted,
    connect: async (key = adminKey, query = '', dialect = '2026-07-28') => {
      const client = await connect(dialect, `${running.url}/mcp${query}`, key);
      clients.push(client);
      return client;
    },
  };
}
