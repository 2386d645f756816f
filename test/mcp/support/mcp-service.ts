import { type RunningService, runningService } from '#test/e2e/support/running-service.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import type { ServiceEnvironment } from '#test/support/service/service-process.ts';
import { type McpClient, PlainMcpClient } from './mcp-client.ts';

/** A service with `/mcp`, and clients of it. */
export interface McpService extends RunningService {
  /** The address of `/mcp`. Read it in hooks and tests only. */
  readonly mcpUrl: string;
  /** Returns a client. @param query of the address, with its question mark */
  readonly connect: (key?: string, query?: string) => McpClient;
}

/** Starts a service before a suite, and ends it after it. Call it in the callback of `describe`. */
export function mcpService(environment: ServiceEnvironment = {}): McpService {
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
    connect: (key = adminKey, query = '') => new PlainMcpClient(`${running.url}/mcp${query}`, key),
  };
}
