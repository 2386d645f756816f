import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantRequests, TenantTimes } from './other-tenant.ts';

// A separate process, because the attack keeps the event loop of its sender busy.

const pauseMs = 20;

const { url, key, paths, closesConnections } = JSON.parse(process.argv[2] ?? '') as TenantRequests;
const headers = { authorization: `Bearer ${key}`, ...(closesConnections ? { connection: 'close' } : {}) };
const times: number[] = [];
let failures = 0;
let isRunning = true;

process.on('message', () => {
  isRunning = false;
});

// The tenant is an old client, with connections and a key that is in memory.
for (const path of paths) await ask(path);
process.send?.({ started: true });
for (let number = 0; isRunning; number += 1) {
  const began = performance.now();
  if (!(await ask(paths[number % paths.length] ?? ''))) failures += 1;
  times.push(performance.now() - began);
  await sleep(pauseMs);
}
process.send?.({ times, failures } satisfies TenantTimes, () => process.disconnect());

/** Returns whether a request is answered with success. */
async function ask(path: string): Promise<boolean> {
  try {
    const answer = await fetch(url + path, { headers });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
