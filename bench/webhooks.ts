import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKey, type Server, startService } from './http-processes/processes.ts';
import { format, median, print } from './measure.ts';

interface Scale {
  readonly projects: number;
  readonly seconds: number;
}

const endpointsOfProject = 10;
const whole: Scale = { projects: 100, seconds: 30 };
const quick: Scale = { projects: 20, seconds: 10 };
/** The deliveries a second to all living endpoints at full scale. */
const deliveriesPerSecond = 500;
const settleMs = 10_000;

/**
 * Measures whether living endpoints wait for dead ones: endpoints of which a tenth is dead (half of these hang, half
 * refuse the connection), against the same number without dead ones. The figure is the time from an event to its
 * receiver. `npm run bench -- webhooks [quick]`
 */
export default async function webhooks(args: ReadonlyArray<string>): Promise<void> {
  const scale = args.includes('quick') ? quick : whole;
  const healthy = await measure(scale, 0);
  const withDead = await measure(scale, 1);
  show('none of them dead', healthy);
  show('a tenth of them dead', withDead);
  print(`median time, a tenth dead against none: ${format(median(withDead.times) / median(healthy.times))}`);
}

interface Outcome {
  readonly endpoints: number;
  readonly expected: number;
  readonly perSecond: number;
  readonly times: ReadonlyArray<number>;
}

async function measure({ projects, seconds }: Scale, deadOfProject: number): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-webhooks-'));
  const receiver = new Receiver();
  await receiver.start();
  const service = await startService(folder, { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
  try {
    const flows: Flow[] = [];
    for (let index = 0; index < projects; index += 1) {
      flows.push(await makeTenant(service, receiver, index, deadOfProject));
    }
    const living = endpointsOfProject - deadOfProject;
    const rate = ((deliveriesPerSecond / whole.projects / living) * projects * endpointsOfProject) / endpointsOfProject;
    const renames = Math.round(rate * seconds);
    const started = performance.now();
    for (let count = 0; count < renames; count += 1) {
      const flow = flows[count % flows.length];
      if (flow !== undefined) void ask(service, flow.key, 'PATCH', `/v1/flows/${flow.id}`, { name: `Name ${count}` });
      await sleep(Math.max(0, started + ((count + 1) / rate) * 1_000 - performance.now()));
    }
    const elapsed = (performance.now() - started) / 1_000;
    const expected = renames * living;
    for (let waited = 0; receiver.times.length < expected && waited < settleMs; waited += 50) await sleep(50);
    const { times } = receiver;
    return { endpoints: projects * endpointsOfProject, expected, perSecond: times.length / elapsed, times };
  } finally {
    await service.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function show(what: string, { endpoints, expected, perSecond, times }: Outcome): void {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN);
  print(
    `${endpoints} endpoints, ${what}: ${times.length} of ${expected} messages to the living, ${Math.round(perSecond)}/s; from event to receiver p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
}

interface Flow {
  readonly id: string;
  readonly key: string;
}

/** Creates a project with a key, a flow and its endpoints. */
async function makeTenant(service: Server, receiver: Receiver, index: number, dead: number): Promise<Flow> {
  const project = await ask<{ id: string }>(service, adminKey, 'POST', '/v1/projects', { name: `Project ${index}` });
  const keyInput = { name: 'Key', keyType: 'project' };
  const { key } = await ask<{ key: string }>(service, adminKey, 'POST', `/v1/projects/${project.id}/keys`, keyInput);
  const flow = await ask<{ id: string }>(service, key, 'POST', `/v1/projects/${project.id}/flows`, {
    name: 'Hours',
    flowSchema: {},
  });
  const deadUrl = index % 2 === 0 ? `${receiver.url}/hangs` : 'http://127.0.0.1:1/';
  const urls = Array.from({ length: endpointsOfProject }, (_, at) => (at < dead ? deadUrl : `${receiver.url}/hooks`));
  const inputs = urls.map((url) => ({ url, eventTypes: ['FlowRenamed'] }));
  await Promise.all(inputs.map((input) => ask(service, key, 'POST', '/v1/webhook-endpoints', input)));
  return { id: flow.id, key };
}

async function ask<Answer>(service: Server, key: string, method: string, path: string, body: object): Promise<Answer> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

/** Receives messages, and measures the age of their events. It never answers messages to `/hangs`. */
class Receiver {
  readonly times: number[] = [];
  readonly #server: HttpServer = createServer((request, response) => this.#receive(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/hangs') {
      request.resume();
      return;
    }
    let body = '';
    request.setEncoding('utf8');
    for await (const part of request) body += part;
    this.times.push(Date.now() - Date.parse((JSON.parse(body) as { time: string }).time));
    response.writeHead(204).end();
  }
}
