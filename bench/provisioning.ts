import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { InstanceRecord } from '#domain/instance/record.ts';
import { adminKey, call, type Server, startService } from './http-processes/processes.ts';
import { format, print, printResults, type Result } from './measure.ts';

const defaultInstances = 10_000;
/** The number of instances that a client waits for at the same time. */
const inFlight = 256;
const connections = 64;
/** The pause between two polls: long enough that polling costs little. */
const betweenLooks = 250;
const betweenProbes = 5;
const parts = 10;
/** The number of instances created beforehand, so that no part includes the start of the service. */
const warmUp = 300;
/** The ticks per second that Linux reports, independently of the kernel's own rate. */
const ticksInASecond = 100;

/**
 * Measures instances of a template with 5 flows of 1 KB, each in a separate project, over HTTP: provisioned, then
 * upgraded. Then a template of 200 flows of 3 KB beside calls of `/healthz`. `npm run bench -- provisioning 1000` uses
 * fewer instances.
 */
export default async function provisioning(args: ReadonlyArray<string>): Promise<void> {
  const instances = Number(args[0] ?? defaultInstances);
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const service = await startService(folder);
  const bench = new ProvisioningBench(service);
  try {
    const results = [...(await bench.many(instances)), await bench.large()];
    print();
    printResults(results);
  } finally {
    await bench.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a schema of this many characters, with a placeholder in one of its nodes. */
const flowOf = (key: string, characters: number) => ({
  key,
  name: `Flow ${key}`,
  flowType: 'graph',
  flowSchema: { start: 'greet', greet: 'Welcome to {{fields.name}}.', more: 'x'.repeat(characters - 60) },
});

const templateOf = (flows: number, characters: number, note = '') => ({
  payload: { flows: Array.from({ length: flows }, (_, index) => flowOf(`${note}${index}`, characters)) },
  fieldsSchema: [{ key: 'name', label: 'Name', type: 'string', required: true }],
});

class ProvisioningBench {
  readonly #service: Server;
  readonly #pool: Pool;

  constructor(service: Server) {
    this.#service = service;
    this.#pool = new Pool(service.url, { connections });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async many(count: number): Promise<Result[]> {
    const templateId = await this.#template();
    const first = await this.#version(templateId, JSON.stringify(templateOf(5, 1_000)));
    // Each flow is kept, with another text.
    const second = await this.#version(templateId, JSON.stringify(templateOf(5, 1_001)));
    const projects = await inParallel(Math.max(count, warmUp), async (index) => {
      const { id } = await this.#post<{ id: string }>('/v1/projects', { name: `Customer ${index}` });
      return id;
    });
    const ids: string[] = [];
    const create = async (index: number) => {
      const body = {
        templateVersionId: first,
        projectId: projects[index],
        name: 'Weber',
        fieldValues: { name: 'Weber' },
      };
      const { id } = await this.#post<{ id: string }>('/v1/instances', body);
      ids[index] = id;
      await this.#active(id);
    };
    const upgrade = async (index: number) => {
      await this.#post(`/v1/instances/${ids[index]}/upgrade`, { targetTemplateVersionId: second });
      await this.#active(ids[index] ?? '');
    };
    await inParallel(warmUp, create);
    await inParallel(warmUp, upgrade);
    const before = await this.#position();
    const cost = () => this.#processorSeconds();
    const created = await measured(count, cost, create);
    const between = await this.#position();
    const upgraded = await measured(count, cost, upgrade);
    const after = await this.#position();
    const megabytes = await this.#peakMegabytes();
    print(`Provisioned ${format(created.perSecond)} instances/s, ${format((between - before) / count)} events each`);
    print(`Upgraded ${format(upgraded.perSecond)} instances/s, ${format((after - between) / count)} events each`);
    print(`${format(after - before)} events in all; memory peak of the service ${format(megabytes)} MB`);
    const share = `processor time of the last tenth of ${format(count)}, of the first`;
    return [
      { what: `provisioning, ${share}`, figure: created.lastToFirst, unit: ' ×', required: 1.3, aim: 1.1 },
      { what: `upgrading, ${share}`, figure: upgraded.lastToFirst, unit: ' ×', required: 1.3, aim: 1.1 },
    ];
  }

  /**
   * Measures the creation and provisioning of a payload of 200 flows of 3 KB, and the response time of `/healthz`
   * meanwhile.
   */
  async large(): Promise<Result> {
    const templateId = await this.#template();
    const { id: projectId } = await this.#post<{ id: string }>('/v1/projects', { name: 'Large' });
    const bodies = [0, 1, 2, 3, 4].map((note) => JSON.stringify(templateOf(200, 3_000, String(note))));
    const idle = await probed(this.#pool, () => sleep(3_000));
    let seconds = 0;
    const busy = await probed(this.#pool, async () => {
      for (const body of bodies) {
        const started = performance.now();
        const templateVersionId = await this.#version(templateId, body);
        const made = { templateVersionId, projectId, name: 'Large', fieldValues: { name: 'Weber' } };
        const { id } = await this.#post<{ id: string }>('/v1/instances', made);
        await this.#active(id);
        seconds += (performance.now() - started) / 1_000 / bodies.length;
      }
    });
    print(`200 flows of 3 KB: taken and provisioned in ${format(seconds)} s`);
    print(`p99 of GET /healthz: ${format(idle)} ms idle, ${format(busy)} ms meanwhile`);
    return { what: 'p99 of GET /healthz meanwhile, of idle', figure: busy / idle, unit: ' ×', required: 20, aim: 5 };
  }

  async #template(): Promise<string> {
    return (await this.#post<{ id: string }>('/v1/templates', { name: 'Practice' })).id;
  }

  async #version(templateId: string, body: string): Promise<string> {
    const { id } = await this.#post<{ id: string }>(`/v1/templates/${templateId}/versions`, body);
    await this.#post(`/v1/template-versions/${id}/publish`, {});
    return id;
  }

  async #active(id: string): Promise<void> {
    for (;;) {
      const { status, lastOperation } = await this.#call<InstanceRecord>('GET', `/v1/instances/${id}`);
      if (status === 'active') return;
      if (status === 'failed') throw new Error(`An instance failed: ${lastOperation?.reason}`);
      await sleep(betweenLooks);
    }
  }

  #post<T>(path: string, body: object | string): Promise<T> {
    return this.#call('POST', path, typeof body === 'string' ? body : JSON.stringify(body));
  }

  async #call<T>(method: 'GET' | 'POST', path: string, body: string | null = null): Promise<T> {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const answer = await this.#pool.request({ method, path, headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  /** Returns the number of events, because positions of the embedded store increase by one. */
  async #position(): Promise<number> {
    const answer = await call(this.#service, 'GET', '/readyz');
    return Number(/at position (\d+)/.exec(await answer.text())?.[1] ?? Number.NaN);
  }

  /** @returns NaN on a system without `/proc`, like the next function */
  async #peakMegabytes(): Promise<number> {
    return Number(/VmHWM:\s+(\d+) kB/.exec(await this.#readProc('status'))?.[1] ?? Number.NaN) / 1024;
  }

  /** Returns the processor time of the service so far, without that of other processes. */
  async #processorSeconds(): Promise<number> {
    // The command's name, in brackets, may contain blanks. User and system time are the 12th and 13th fields after it.
    const fields = (await this.#readProc('stat')).split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticksInASecond;
  }

  #readProc(file: 'stat' | 'status'): Promise<string> {
    return readFile(`/proc/${this.#service.pid}/${file}`, 'utf8').catch(() => '');
  }
}

/** Runs work for each index from 0, with `inFlight` at a time. @returns the results, by index */
async function inParallel<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return results;
}

/**
 * Runs the same work in ten parts, one after the other. Returns the rate of all, and the cost of the last part
 * relative to the first.
 */
async function measured(count: number, cost: () => Promise<number>, work: (index: number) => Promise<void>) {
  const costs = [await cost()];
  const started = performance.now();
  for (let part = 0; part < parts; part += 1) {
    const from = Math.round((part * count) / parts);
    await inParallel(Math.round(((part + 1) * count) / parts) - from, (index) => work(from + index));
    costs.push(await cost());
  }
  const seconds = (performance.now() - started) / 1_000;
  const of = (part: number) => (costs[part + 1] ?? Number.NaN) - (costs[part] ?? Number.NaN);
  return { perSecond: count / seconds, lastToFirst: of(parts - 1) / of(0) };
}

/**
 * Calls `/healthz` every few milliseconds while work runs.
 * @returns the 99th percentile of the response time, in milliseconds
 */
async function probed(pool: Pool, during: () => Promise<unknown>): Promise<number> {
  let running = true;
  const done = during().finally(() => {
    running = false;
  });
  const took: number[] = [];
  while (running) {
    const started = performance.now();
    const { body } = await pool.request({ method: 'GET', path: '/healthz' });
    await body.dump();
    took.push(performance.now() - started);
    await sleep(betweenProbes);
  }
  await done;
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN;
}
