import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { RootHookObject } from 'mocha';

/** Longer than a driver keeps a timer of its own. */
const limitMilliseconds = 60_000;
const pollMilliseconds = 5;

let openBefore = new Map<string, number>();

/**
 * What the tests of a file opened must be closed when they end: sockets, servers, processes, threads and timers, whatever
 * would keep a process from its end. A worker that runs several files is ended without waiting for such, and a failure
 * that comes after a file's end would be lost with it.
 */
export const mochaHooks: RootHookObject = {
  async beforeAll() {
    await mochaWaits();
    openBefore = openNow();
  },

  async afterAll(this: Mocha.Context) {
    this.timeout(0);
    await mochaWaits();
    const deadline = performance.now() + limitMilliseconds;
    while (leftOpen().length > 0) {
      if (performance.now() > deadline) {
        const files = new Set(this.test?.parent?.suites.map(({ file }) => file));
        throw new Error(`left open by ${[...files].join(', ')}: ${leftOpen().join(', ')}`);
      }
      await sleep(pollMilliseconds);
    }
  },
};

/** Mocha's own timer for a hook begins when the hook has returned its promise: it is open before and after alike. */
const mochaWaits = () => setImmediate();

/** How many of each kind keep the process from its end. */
function openNow(): Map<string, number> {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, { length }]) => [kind, length]));
}

/** The kinds of which more are open than before. */
function leftOpen(): ReadonlyArray<string> {
  return [...openNow()].filter(([kind, count]) => count > (openBefore.get(kind) ?? 0)).map(([kind]) => kind);
}
