import { call, type Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { getRequest, sendAndReadNothing } from './unread-requests.ts';

const feeds = 400;
const versions = 300;
const schemaBytes = 40 * 1024;
const heldMs = 10_000;

/** Feeds that resume at the beginning of a project with 300 large changes, and whose client reads nothing. */
export default besideOtherTenant({
  title: `${feeds} unread feeds that resume`,
  prepare: makeLargeChanges,
  attack: (service, { key }) =>
    sendAndReadNothing(service, feeds, getRequest('/v1/events', key, 'Last-Event-ID: 1'), heldMs),
});

async function makeLargeChanges(service: Server): Promise<void> {
  const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
  const flow = { name: 'Large', flowSchema: {} };
  const made = await call(service, 'POST', `/v1/projects/${projectId}/flows`, flow);
  const { id } = (await made.json()) as { id: string };
  for (let version = 0; version < versions; version += 1)
    await call(service, 'POST', `/v1/flows/${id}/versions`, {
      flowSchema: { text: `${version}`.padEnd(schemaBytes, 'x') },
    });
}
