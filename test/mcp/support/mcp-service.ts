import { type CalledService, composedService, serviceOfProject } from '#test/e2e/support/running-service.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import { embeddedStores } from '#test/support/service/engines.ts';
import type { ServiceEnvironment } from '#test/support/service/service-process.ts';
import { type McpClient, PlainMcpClient } from './mcp-client.ts';

/** A service with `/mcp`, and clients of it. */
export interface McpService extends CalledService {
  /** The address of `/mcp`. Read it in hooks and tests only. */
  readonly mcpUrl: string;
  /** Returns a client. @param query of the address, with its question mark */
  readonly connect: (key?: string, query?: string) => McpClient;
}

/**
 * A service for a suite. Call it in the callback of `describe`.
 * @param environment variables of a service of its own; by default suites share one
 */
export function mcpService(environment?: ServiceEnvironment): McpService {
  const running =
    environment === undefined ? serviceOfProject(embeddedStores) : composedService(embeddedStores, environment);
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
    connect: (key = adminKey, query = '') => new PlainMcpClient(`${running.url}/mcp${query}`, key),
  };
}
