import { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { RootHookObject } from 'mocha';

/**
 * Longer than the timers that database drivers keep, and shorter than a wait of `eventually`: one that a test has left would
 * keep the run from its end unnoticed.
 */
const timeoutMs = 30_000;
const pollIntervalMs = 5;

let openBefore = new Map<string, number>();

/**
 * Fails a file whose tests leave a socket, server, process, thread or timer open, or anything else that keeps a process
 * from its end. Mocha ends its workers without waiting for these, so a failure after a file's end would be lost.
 */
export const mochaHooks: RootHookObject = {
  async beforeAll() {
    await mochaWaits();
    openBefore = openNow();
  },

  async afterAll(this: Mocha.Context) {
    this.timeout(0);
    await mochaWaits();
    const deadline = performance.now() + timeoutMs;
    while (leftOpen().length > 0) {
      if (performance.now() > deadline) {
        const files = new Set(this.test?.parent?.suites.map(({ file }) => file));
        throw new Error(`left open by ${[...files].join(', ')}: ${leftOpen().join(', ')}${connections()}`);
      }
      await sleep(pollIntervalMs);
    }
  },
};

/** Mocha starts its timer for a hook after the hook has returned its promise; this lets both counts include it. */
const mochaWaits = () => setImmediate();

/** The number of open resources by kind. */
function openNow(): Map<string, number> {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, { length }]) => [kind, length]));
}

/** The kinds with more open resources than before. */
function leftOpen(): ReadonlyArray<string> {
  return [...openNow()].filter(([kind, count]) => count > (openBefore.get(kind) ?? 0)).map(([kind]) => kind);
}

/** The ends of open connections: which one a test has left is not seen from its kind. */
function connections(): string {
  const handles = (process as unknown as { _getActiveHandles(): ReadonlyArray<unknown> })._getActiveHandles();
  const sockets = handles.filter((handle) => handle instanceof Socket);
  return sockets.map((socket) => ` (${socket.localPort} to ${socket.remotePort}, ${socket.readyState})`).join('');
}
