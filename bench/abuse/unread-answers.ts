import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeManyFlows } from './many-flows.ts';
import { newTenant, tenantDuring } from './other-tenant.ts';
import { newProjectKey, type ProjectKey } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const connections = 250;
const requestsOfConnection = 4;
const heldMs = 15_000;
let other: ProjectKey | null = null;

/** Connections of one key that ask for pages of the audit of 2 MiB, several at once, and read nothing. */
const unreadAnswers: AbuseScenario = {
  title: `${connections} connections that ask for ${requestsOfConnection} pages of the audit and read nothing`,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    await makeManyFlows(service);
    other = await newTenant(service);
  },
  attack: async (service) => {
    if (other === null) throw new Error('The service is not prepared');
    const { key } = await newProjectKey(service);
    const result = await tenantDuring(service, other, async () => {
      const sockets = await Promise.all(Array.from({ length: connections }, () => ask(service.url, key)));
      await sleep(heldMs);
      for (const socket of sockets) socket.destroy();
    });
    return [{ ...result, what: `unread answers: ${result.what}` }];
  },
};

async function ask(url: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /v1/audit HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\n\r\n`.repeat(requestsOfConnection));
  return socket;
}

export default unreadAnswers;
