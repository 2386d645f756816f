import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeManyFlows } from './many-flows.ts';
import { makeOtherTenant, type TenantRequests, timesDuring } from './other-tenant.ts';
import { newProjectKey } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const exports = 300;
const heldMs = 15_000;
const title = `${exports} exports that nobody reads`;
let other: TenantRequests | null = null;

/** Connections of one key that export the audit and read nothing. */
const unreadExports: AbuseScenario = {
  title,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    await makeManyFlows(service);
    other = await makeOtherTenant(service);
  },
  attack: async (service) => {
    if (other === null) throw new Error('The service is not prepared');
    const { key } = await newProjectKey(service);
    const result = await timesDuring(other, title, async () => {
      const sockets = await Promise.all(Array.from({ length: exports }, () => beginExport(service.url, key)));
      await sleep(heldMs);
      for (const socket of sockets) socket.destroy();
    });
    return [result];
  },
};

async function beginExport(url: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /v1/audit HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\nAccept: application/x-ndjson\r\n\r\n`);
  return socket;
}

export default unreadExports;
