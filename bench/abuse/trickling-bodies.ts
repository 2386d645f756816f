import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import type { ProjectKey } from './project-key.ts';
import { beginRequest } from './unfinished-request.ts';

const maxConnections = 2_000;
const bodies = 2_200;
const atOnce = 100;
const heldMs = 40_000;
const dripMs = 3_000;
/** A faster attack would measure the processor that both share. */
const connectEveryMs = 250;

/** One key begins more bodies than there are connections, sends a byte of each now and then, and connects again. */
export default besideOtherTenant({
  title: `${bodies} trickling bodies of one key on ${maxConnections} connections`,
  environment: { MAX_CONNECTIONS: String(maxConnections) },
  maxFreezeMs: 100,
  maxSlowdown: 3,
  closesConnections: true,
  prepare: async () => undefined,
  attack: hold,
});

async function hold({ url }: Server, { key }: ProjectKey): Promise<void> {
  const path = '/v1/chat/completions';
  const request = { url, path, contentType: 'application/json', contentLength: 1_000, key };
  const sockets = new Set<Socket>();
  const fill = async () => {
    while (sockets.size < bodies) {
      const begun = await Promise.allSettled(Array.from({ length: atOnce }, () => beginRequest(request)));
      for (const socket of begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))) {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      }
      await sleep(connectEveryMs);
      if (performance.now() > until) return;
    }
  };
  const until = performance.now() + heldMs;
  while (performance.now() < until) {
    await fill();
    for (const socket of sockets) socket.write(' ');
    await sleep(dripMs);
  }
  for (const socket of sockets) socket.destroy();
}
