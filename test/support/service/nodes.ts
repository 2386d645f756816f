import type { Client } from './client.ts';
import type { Engines } from './engines.ts';
import { type ServiceEnvironment, ServiceProcess, type TemporaryFolder, temporaryFolder } from './service-process.ts';

/** Nodes in separate processes on the same stores, each with its own folder. */
export class Nodes {
  readonly #engines: Engines;
  readonly #nodes: ServiceProcess[] = [];
  readonly #folders: TemporaryFolder[] = [];

  constructor(engines: Engines) {
    this.#engines = engines;
  }

  /**
   * Begins to start a node; its `listening` waits until it is ready.
   * @param roles the variable `ROLES`; default: all
   * @param main the file that starts it; default: that of this checkout
   */
  begin(roles?: string, environment: ServiceEnvironment = {}, main?: string): ServiceProcess {
    const folder = temporaryFolder();
    this.#folders.push(folder);
    const variables = { ...this.#engines.environment(), ROLES: roles, ...environment };
    const node = new ServiceProcess({ dataDir: folder.path, environment: variables, ...(main && { main }) });
    this.#nodes.push(node);
    return node;
  }

  /** Starts a node, and waits until it is ready. */
  start(roles?: string, environment?: ServiceEnvironment): Promise<ServiceProcess> {
    return this.begin(roles, environment).listening();
  }

  /** Kills all nodes, even frozen ones, and removes their folders. */
  async end(): Promise<void> {
    await Promise.all(this.#nodes.splice(0).map((node) => node.kill()));
    for (const folder of this.#folders.splice(0)) folder.remove();
  }
}

/** Returns the node that runs the projections, as a client's node reports it; null while it reports none of these nodes. */
export async function projectingNode(
  client: Client,
  nodes: ReadonlyArray<ServiceProcess>,
): Promise<ServiceProcess | null> {
  const { body } = await client.get<{ checks: ReadonlyArray<{ name: string; detail: string }> }>('/readyz');
  const detail = body.checks.find(({ name }) => name === 'projections')?.detail ?? '';
  return nodes.find(({ pid }) => new RegExp(`^live on \\S+-${pid}-`).test(detail)) ?? null;
}
