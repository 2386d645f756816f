import { inspect } from 'node:util';
import type { RootHookObject } from 'mocha';

let reasons: unknown[] = [];

/** Fails the test during which a rejection was not handled, or the file if it comes after its last test. Mocha ignores it. */
export const mochaHooks: RootHookObject = {
  beforeAll() {
    process.on('unhandledRejection', note);
  },

  afterEach: throwFirst,

  afterAll() {
    process.off('unhandledRejection', note);
    throwFirst();
  },
};

function note(reason: unknown): void {
  reasons.push(reason);
}

function throwFirst(): void {
  const [first] = reasons;
  const some = reasons.length > 0;
  reasons = [];
  if (some) throw new Error(`A rejection was not handled: ${inspect(first)}`);
}
