import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { LoadResult } from '#bench/http-processes/load.ts';
import { adminKey, call, type Server, sendLoad, startService } from '#bench/http-processes/processes.ts';
import { type CallKind, noCalls } from '#test/support/eventstoredb/calls/call-kind.ts';
import { poll } from '#test/support/run/poll.ts';
import { Client } from '#test/support/service/client.ts';
import { startMongoDb } from '#test/support/service/mongodb-server.ts';
import { FlowRequests, type Flows, newVersion } from './flow-requests.ts';

const counter = pathToFileURL(join(import.meta.dirname, 'count-calls.ts')).href;
const flowsByDefault = 256;
const createdTogether = 16;
const attempts = 20;
const retryMs = 500;
const answerMs = 30_000;

/** The prefix of the streams' names on a server, so that streams of an earlier run belong to another log. */
export function newPrefix(): string {
  return `bench-${randomUUID().slice(0, 8)}.`;
}

/** What a benchmark changes of the service. */
export interface EngineServiceOptions {
  /** Further variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The version of the service; default: this one. */
  readonly checkout?: Checkout;
  /** The limit of its start in ms; default: five minutes. */
  readonly readyMs?: number;
}

/** The real service in a separate process, by default with embedded read models, so that the event store is measured. */
export class EngineService {
  readonly server: Server;
  readonly client: Client;
  /** The variables that name its stores, for another node on them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #calls: string;
  #flows: Flows = { projectId: '', ids: [] };

  private constructor(server: Server, variables: Readonly<Record<string, string>>, calls: string) {
    this.server = server;
    this.variables = variables;
    this.#calls = calls;
    this.client = new Client(server.url, adminKey);
  }

  /** Starts it, and waits until it is ready. @param eventStore on a server; null for the embedded one */
  static async start(
    eventStore: { readonly url: string; readonly prefix: string } | null,
    { environment = {}, checkout = here, readyMs }: EngineServiceOptions = {},
  ): Promise<EngineService> {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
    const callsFolder = await mkdtemp(join(tmpdir(), 'switchyard-bench-calls-'));
    const calls = join(callsFolder, 'calls.json');
    const counting = { BENCH_CALLS_FILE: calls, ...(eventStore !== null && { NODE_OPTIONS: `--import ${counter}` }) };
    const variables = {
      ...(eventStore !== null && { EVENT_STORE_URL: eventStore.url, EVENT_STORE_STREAM_PREFIX: eventStore.prefix }),
      ...environment,
    };
    const server = await startService(folder, { ...counting, ...variables }, checkout, readyMs);
    const stop = async () => {
      await server.stop();
      await Promise.all([folder, callsFolder].map((path) => rm(path, { recursive: true, force: true })));
    };
    return new EngineService({ ...server, stop }, variables, calls);
  }

  /** Creates the flows whose versions are posted, and returns them. */
  async createFlows(count = flowsByDefault): Promise<Flows> {
    const { projectId } = (await (await call(this.server, 'GET', '/v1/me')).json()) as { projectId: string };
    const ids: string[] = [];
    while (ids.length < count) {
      const made = Array.from({ length: createdTogether }, (_, index) =>
        this.#create(`/v1/projects/${projectId}/flows`, { name: `Flow ${ids.length + index}`, flowSchema: {} }),
      );
      ids.push(...(await Promise.all(made)));
    }
    this.#flows = { projectId, ids };
    return this.#flows;
  }

  /** Creates a resource. Retries while a server is unavailable for a moment on a busy machine. @returns its id */
  async #create(path: string, body: object): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const { status, body: made, text } = await this.client.post<{ id: string }>(path, body);
      if (status === 201) return made.id;
      if (status !== 503 || attempt === attempts) throw new Error(`${path} was answered by ${status}: ${text}`);
      await sleep(retryMs);
    }
  }

  /** Posts one version. @param number chooses the flow */
  async post(number: number): Promise<void> {
    await new FlowRequests(this.client, this.#flows).postVersion(number);
  }

  /** Posts versions from this many connections for a time. @param flows the number of flows that get them; default: all */
  load(connections: number, seconds: number, flows?: number): Promise<LoadResult> {
    return sendLoad({
      url: this.server.url,
      method: 'POST',
      paths: this.#flows.ids.slice(0, flows).map((id) => `/v1/flows/${id}/versions`),
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(newVersion),
      connections,
      seconds,
    });
  }

  /** The gRPC calls so far, by kind; only for a service with its event store on a server. */
  async calls(): Promise<Readonly<Record<CallKind, number>>> {
    await rm(this.#calls, { force: true });
    process.kill(this.server.pid, 'SIGUSR2');
    await poll(() => existsSync(this.#calls), answerMs);
    return JSON.parse(await readFile(this.#calls, 'utf8')) as Record<CallKind, number>;
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.server.stop();
  }
}

/**
 * Runs work with a service on an EventStoreDB and MongoDB, and stops both.
 * @param url of an EventStoreDB
 */
export async function withServiceOn<Result>(
  url: string,
  { environment = {}, ...options }: EngineServiceOptions,
  work: (service: EngineService) => Promise<Result>,
): Promise<Result> {
  await using opened = new AsyncDisposableStack();
  const mongoDb = await startMongoDb();
  opened.defer(() => mongoDb.dispose());
  const variables = { READ_STORE_URL: mongoDb.newUrl(), LOG_LEVEL: 'error', ...environment };
  const service = await EngineService.start({ url, prefix: newPrefix() }, { ...options, environment: variables });
  opened.defer(() => service.stop());
  return await work(service);
}

/** Returns the calls between two counts. */
export function callsBetween(
  before: Readonly<Record<CallKind, number>>,
  after: Readonly<Record<CallKind, number>>,
): Readonly<Record<CallKind, number>> {
  const between = noCalls();
  for (const kind of Object.keys(between) as CallKind[]) between[kind] = after[kind] - before[kind];
  return between;
}
