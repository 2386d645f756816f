import { newHolder, newProject } from '#test/e2e/support/tenants.ts';
import type { Client } from './client.ts';
import { type ServiceProcess, startService, temporaryFolder } from './service-process.ts';

/** A project that one suite alone uses, on the service that suites share. */
export interface FreshProject {
  readonly projectId: string;
  /** A client with an admin key of the project. */
  readonly client: Client;
  readonly url: string;
}

/**
 * How long answers wait for the read models at most. It is long, because suites that share a service do not check how soon
 * a write shows on a busy machine.
 */
export const patientReads = { READ_YOUR_WRITES_TIMEOUT_MS: '60000' };

let starting: Promise<ServiceProcess> | null = null;

/**
 * The service of all suites of this test process that need only a project of their own. It starts at first use, on
 * embedded stores, and ends with the process. Its metrics, positions and whole audit belong to no suite.
 */
export function sharedService(): Promise<ServiceProcess> {
  starting ??= start();
  return starting;
}

/** Creates a project on the shared service. */
export async function freshProject(): Promise<FreshProject> {
  const { client: operator, url } = await sharedService();
  const projectId = await newProject(operator);
  return { projectId, client: await newHolder(operator, projectId, 'admin'), url };
}

async function start(): Promise<ServiceProcess> {
  const folder = temporaryFolder();
  // After the signal to the service, which was added before.
  const service = await startService({ dataDir: folder.path, environment: patientReads });
  process.once('exit', folder.remove);
  service.unref();
  return service;
}
