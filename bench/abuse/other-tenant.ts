import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Server } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';
import type { ProjectKey } from './project-key.ts';

const pauseMs = 20;
const maxP95Ms = 1_000;

/** Makes a project of its own with an ordinary key. @throws Error if the service refuses it */
export async function newTenant(service: Server): Promise<ProjectKey> {
  const { organizationId } = (await (await call(service, 'GET', '/v1/me')).json()) as { organizationId: string };
  const project = await call(service, 'POST', '/v1/projects', { name: 'Other', organizationId });
  const { id: projectId } = (await project.json()) as { id: string };
  const created = await call(service, 'POST', `/v1/projects/${projectId}/keys`, { name: 'Own', keyType: 'project' });
  const { key } = (await created.json()) as { key: string };
  return { key, projectId };
}

/**
 * Asks for the audit and the flows of a tenant in turn, while another one works.
 * @returns the 95th percentile of its waits; endless if an answer was refused
 */
export async function tenantDuring(
  { url }: Server,
  { key, projectId }: ProjectKey,
  run: () => Promise<unknown>,
): Promise<Result> {
  const waits: number[] = [];
  let isRunning = true;
  const asking = (async () => {
    const paths = ['/v1/audit', `/v1/projects/${projectId}/flows`];
    for (let number = 0; isRunning; number += 1) {
      const started = performance.now();
      const answer = await fetch(url + paths[number % 2], { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      waits.push(answer.ok ? performance.now() - started : Number.POSITIVE_INFINITY);
      await sleep(pauseMs);
    }
  })();
  try {
    await run();
  } finally {
    isRunning = false;
    await asking;
  }
  const figure = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.95)] ?? Number.POSITIVE_INFINITY;
  return { what: 'another tenant: p95', figure, unit: ' ms', required: maxP95Ms, aim: maxP95Ms / 2 };
}
