import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKey, type Server } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';
import { repeat } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const projects = 10;
const endpointsOfProject = 100;
const eventsOfProject = 30;
const inFlight = 8;
/** A receiver that accepts some messages never counts as dead, so its messages are tried as often as possible. */
const acceptedEvery = 50;
const measuredMs = 20_000;
const pauseMs = 50;

/** A flow, and the key of its project. */
interface Flow {
  readonly id: string;
  readonly key: string;
}

let victims: ReadonlyArray<Flow> = [];
let other: Flow = { id: '', key: '' };
let received = 0;
const receiver = createServer((request, response) => {
  request.resume();
  received += 1;
  response.writeHead(received % acceptedEvery === 0 ? 204 : 500).end();
});

/** Endpoints of one organization's projects that refuse nearly every message, while another tenant writes. */
const failingWebhooks: AbuseScenario = {
  title: `${projects * endpointsOfProject} failing webhook endpoints with ${eventsOfProject} messages each`,
  environment: {
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    MAX_WEBHOOK_ENDPOINTS_PER_ORGANIZATION: String(projects * endpointsOfProject),
  },
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    receiver.listen(0, '127.0.0.1');
    receiver.unref();
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { id: organizationId } = await ask<{ id: string }>(service, adminKey, 'POST', '/v1/organizations', {
      name: 'Other',
      partner: false,
    });
    other = await newFlow(service, organizationId);
    victims = await Promise.all(Array.from({ length: projects }, () => newFlow(service)));
    await repeat(projects * endpointsOfProject, inFlight, (number) =>
      ask(service, victims[number % projects]?.key ?? '', 'POST', '/v1/webhook-endpoints', {
        url,
        eventTypes: ['FlowRenamed'],
      }),
    );
  },
  attack: async (service) => {
    await repeat(projects * eventsOfProject, inFlight, (number) => rename(service, victims[number % projects], number));
    const times = await timesOfWrites(service);
    receiver.close();
    receiver.closeAllConnections();
    const p95 = times.toSorted((one, another) => one - another)[Math.floor(times.length * 0.95)] ?? Number.NaN;
    const what = `${failingWebhooks.title}: p95 of another tenant's writes`;
    return [{ what, figure: p95, unit: ' ms', required: 1_000, aim: 500 } satisfies Result];
  },
};

/** Writes as another tenant. @returns how long each write took, in milliseconds */
async function timesOfWrites(service: Server): Promise<ReadonlyArray<number>> {
  const times: number[] = [];
  const end = performance.now() + measuredMs;
  for (let number = 0; performance.now() < end; number += 1) {
    const began = performance.now();
    await rename(service, other, number);
    times.push(performance.now() - began);
    await sleep(pauseMs);
  }
  return times;
}

async function rename(service: Server, flow: Flow | undefined, number: number): Promise<void> {
  if (flow !== undefined) await ask(service, flow.key, 'PATCH', `/v1/flows/${flow.id}`, { name: `Name ${number}` });
}

/** Creates a project with a key and a flow. @param organizationId the key's own by default */
async function newFlow(service: Server, organizationId?: string): Promise<Flow> {
  const owner = organizationId === undefined ? {} : { organizationId };
  const project = await ask<{ id: string }>(service, adminKey, 'POST', '/v1/projects', { name: 'Project', ...owner });
  const keys = `/v1/projects/${project.id}/keys`;
  const { key } = await ask<{ key: string }>(service, adminKey, 'POST', keys, { name: 'Key', keyType: 'project' });
  const flow = { name: 'Hours', flowSchema: {} };
  const { id } = await ask<{ id: string }>(service, key, 'POST', `/v1/projects/${project.id}/flows`, flow);
  return { id, key };
}

async function ask<Answer>(service: Server, key: string, method: string, path: string, body: object): Promise<Answer> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Answer;
}

export default failingWebhooks;
