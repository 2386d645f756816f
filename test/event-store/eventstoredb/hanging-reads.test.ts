import assert from 'node:assert/strict';
import { ChangeListener } from '#event-store/change-notifications.ts';
import type { Reads } from '#event-store/eventstoredb/connection/reads.ts';
import { LogReader } from '#event-store/eventstoredb/log/log-reader.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { asStored } from '#event-store/recorded-event.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const minute = 60_000;

describe('A read of EventStoreDB’s log that hangs', () => {
  let time: SimulatedTime;
  let calls: number;
  let reader: LogReader;

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    calls = 0;
    const hang = () => {
      calls += 1;
      return new Promise<never>(() => undefined);
    };
    const reads = { page: hang, answers: hang } as unknown as Reads;
    const names = new StreamNames({ streamPrefix: 'test.' });
    reader = new LogReader({ reads, names, upcast: asStored, changes: new ChangeListener() });
  });
  afterEach(() => {
    reader.close();
    time[Symbol.dispose]();
  });

  const kinds: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
    ['of a page', () => reader.readPage({ after: 0, maxEvents: 10 })],
    ['of the end', () => reader.lastPosition()],
  ];
  for (const [kind, read] of kinds) {
    it(`${kind} is shared by all callers as long as a read may take, and by none after that`, async () => {
      void read();
      await time.pass(10 * minute);
      void read();
      await time.pass(0);
      assert.equal(calls, 1);
      await time.pass(minute + 1);
      void read();
      await time.pass(0);
      assert.equal(calls, 2);
      void read();
      await time.pass(0);
      assert.equal(calls, 2);
    });
  }
});
