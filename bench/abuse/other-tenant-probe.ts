import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantRequest, TenantRequests, TenantTimes } from './other-tenant.ts';

// A separate process, because the attack keeps the event loop of its sender busy.

const pauseMs = 20;

const { url, key, requests, closesConnections } = JSON.parse(process.argv[2] ?? '') as TenantRequests;
const headers = {
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  ...(closesConnections ? { connection: 'close' } : {}),
};
const times: number[] = [];
let failures = 0;
let isRunning = true;

process.on('message', () => {
  isRunning = false;
});

// The tenant is an old client, with connections and a key that is in memory.
for (const request of requests) await ask(request);
process.send?.({ started: true });
for (let number = 0; isRunning; number += 1) {
  const request = requests[number % requests.length];
  if (request === undefined) break;
  const began = performance.now();
  if (!(await ask(request))) failures += 1;
  times.push(performance.now() - began);
  await sleep(pauseMs);
}
process.send?.({ times, failures } satisfies TenantTimes, () => process.disconnect());

/** Returns whether a request is answered with success. */
async function ask({ method, path, body }: TenantRequest): Promise<boolean> {
  try {
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
