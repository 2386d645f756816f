import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Server } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';
import { makeManyFlows } from './many-flows.ts';
import { makeOtherTenant, p95During, slowdownOf, type TenantRequests } from './other-tenant.ts';
import { newProjectKey, type ProjectKey } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const versions = 400;
const schemaBytes = 4 * 1024;
const clientsOfKind = 16;
const restMs = 4_000;
const attackMs = 4_000;
const maxSlowdown = 3;
const maxBytesAboveIdle = 300 * 1024 * 1024;

/** The paths that one project reads, by kind of work. */
let paths: Readonly<Record<string, string>> = {};
let other: TenantRequests | null = null;

/** Makes a flow with many versions. @returns its id */
async function makeLongFlow(service: Server, projectId: string): Promise<string> {
  const flowSchema = { text: 'x'.repeat(schemaBytes) };
  const created = await call(service, 'POST', `/v1/projects/${projectId}/flows`, { name: 'Long', flowSchema });
  const { id } = (await created.json()) as { id: string };
  for (let number = 1; number < versions; number += 1)
    await call(service, 'POST', `/v1/flows/${id}/versions`, { flowSchema });
  return id;
}

/** Keeps clients busy with reading paths. Each path has its own. */
async function readAll({ url }: Server, { key }: ProjectKey, read: ReadonlyArray<string>): Promise<void> {
  const end = performance.now() + attackMs;
  const readPath = async (path: string) => {
    while (performance.now() < end) {
      const answer = await fetch(url + path, { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      if (answer.status === 429) await sleep(10);
      else if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    }
  };
  await Promise.all(read.flatMap((path) => Array.from({ length: clientsOfKind }, () => readPath(path))));
}

/**
 * Histories, the audit, lists and past moments of one project, each kind by itself and then all at the same time, while
 * another project sends commands.
 */
const readsBesideCommands: AbuseScenario = {
  title: `reads by ${clientsOfKind} clients of each kind beside commands`,
  maxFreezeMs: 300,
  maxBytesAboveIdle,
  prepare: async (service) => {
    await makeManyFlows(service);
    const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
    const flow = await makeLongFlow(service, projectId);
    paths = {
      histories: `/v1/flows/${flow}/history`,
      audit: '/v1/audit',
      lists: `/v1/projects/${projectId}/flows`,
      'past moments': `/v1/flows/${flow}/versions?asOf=${versions - 10}`,
    };
    const { commands, url, key } = await makeOtherTenant(service);
    other = { url, key, requests: commands, closesConnections: false };
  },
  attack: async (service) => {
    if (other === null) throw new Error('The service is not prepared');
    const tenant = other;
    const reader = await newProjectKey(service);
    const restP95 = await p95During(tenant, 'commands at rest', () => sleep(restMs));
    const results: Result[] = [];
    const measure = async (kind: string, read: ReadonlyArray<string>) => {
      const title = `commands beside ${kind}`;
      const p95 = await p95During(tenant, title, () => readAll(service, reader, read));
      results.push(slowdownOf(title, p95 / restP95, maxSlowdown));
    };
    for (const [kind, path] of Object.entries(paths)) await measure(kind, [path]);
    await measure('all of these', Object.values(paths));
    return results;
  },
};

export default readsBesideCommands;
