import type { Server } from '#bench/http-processes/processes.ts';
import { makeManyFlows } from './many-flows.ts';
import { besideOtherTenant } from './other-tenant.ts';
import type { ProjectKey } from './project-key.ts';

const dashboards = 20;
const flowReaders = 64;
const auditReaders = 8;
const exports = 16;
const readsOfEach = 10;
const dayMs = 86_400_000;

/** What one key may do at the same time with default limits. Any refusal fails the row. */
export default besideOtherTenant({
  title: `${dashboards} dashboards, ${flowReaders} readers of flows, ${auditReaders} of the audit, ${exports} exports`,
  limitsFreeze: false,
  prepare: makeManyFlows,
  attack: readAll,
});

async function readAll({ url }: Server, { key, projectId }: ProjectKey): Promise<void> {
  const read = async (path: string, accept = 'application/json') => {
    const answer = await fetch(url + path, { headers: { 'x-api-key': key, accept } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`GET ${path} was answered with ${answer.status}: ${text.slice(0, 200)}`);
  };
  const readAgain = async (path: string) => {
    for (let number = 0; number < readsOfEach; number += 1) await read(path);
  };
  await Promise.all([
    ...times(dashboards, () => openDashboard(read)),
    ...times(flowReaders, () => readAgain(`/v1/projects/${projectId}/flows`)),
    ...times(auditReaders, () => readAgain('/v1/audit')),
    ...times(exports, () => read('/v1/audit', 'application/x-ndjson')),
  ]);
}

/** Asks what the dashboard's first page asks. */
function openDashboard(read: (path: string) => Promise<void>): Promise<unknown> {
  const until = new Date();
  const day = new URLSearchParams({
    from: new Date(until.getTime() - dayMs).toISOString(),
    until: until.toISOString(),
  });
  const paths = [
    ...['/dashboard', '/v1/me', '/v1/projects', `/v1/dashboard/gateway?${day}`, '/v1/dashboard/instances'],
    ...['/v1/dashboard/activity', '/v1/webhook-endpoints?status=disabled&sort=-createdAt', '/v1/audit?limit=40'],
  ];
  return Promise.all(paths.map((path) => read(path)));
}

function times<Value>(count: number, make: () => Value): ReadonlyArray<Value> {
  return Array.from({ length: count }, make);
}
