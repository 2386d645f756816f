import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Server } from '#bench/http-processes/processes.ts';
import { makeOtherTenant, type TenantRequests, timesDuring } from './other-tenant.ts';
import { newProjectKey } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const feeds = 400;
const versions = 300;
const schemaBytes = 40 * 1024;
const heldMs = 10_000;
const title = `${feeds} unread feeds that resume`;
let other: TenantRequests;

/** Feeds that resume at the beginning of a project with 300 large changes, and whose client reads nothing. */
const unreadFeeds: AbuseScenario = {
  title,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    other = await makeOtherTenant(service);
    const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
    const flow = { name: 'Large', flowSchema: {} };
    const { id } = (await (await call(service, 'POST', `/v1/projects/${projectId}/flows`, flow)).json()) as {
      id: string;
    };
    for (let version = 0; version < versions; version += 1)
      await call(service, 'POST', `/v1/flows/${id}/versions`, {
        flowSchema: { text: `${version}`.padEnd(schemaBytes, 'x') },
      });
  },
  attack: async (service) => {
    const { key } = await newProjectKey(service);
    const result = await timesDuring(other, title, async () => {
      const sockets = await Promise.all(Array.from({ length: feeds }, () => openFeed(service, key)));
      await sleep(heldMs);
      for (const socket of sockets) socket.destroy();
    });
    return [result];
  },
};

/** Sends the request of a feed, and reads nothing of its answer. */
async function openFeed({ url }: Server, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const headers = ['Host: a', `Authorization: Bearer ${key}`, 'Last-Event-ID: 1'];
  socket.write(`GET /v1/events HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  return socket;
}

export default unreadFeeds;
