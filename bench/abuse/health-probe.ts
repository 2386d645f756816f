import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// A separate process, because the attack keeps the event loop of its sender busy.

const pauseMs = 2;

const url = process.argv[2] ?? '';
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let isRunning = true;
let maxMs = 0;
let failures = 0;

process.on('message', () => {
  isRunning = false;
});

process.send?.({ started: true });
let answeredAt = performance.now();
while (isRunning) {
  if (!(await ask())) failures += 1;
  const now = performance.now();
  maxMs = Math.max(maxMs, now - answeredAt);
  answeredAt = now;
  await sleep(pauseMs);
}
process.send?.({ maxMs, failures }, () => process.disconnect());

/** Returns whether `/healthz` answers. */
function ask(): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${url}/healthz`, { agent }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
    }).on('error', () => resolve(false));
  });
}
