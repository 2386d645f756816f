import assert from 'node:assert/strict';
import { OpenedParts } from '#app/opened-parts.ts';
import { openUsageArchive } from '#app/parts/open-usage-archive.ts';
import type { Runtime } from '#app/runtime.ts';
import type { Decoded } from '#application/operations/operation-request.ts';
import { clock } from '#shared/clock.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('The archive of usage', () => {
  it('calls the log no more after it was left', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const calls: string[] = [];
    const names = Promise.withResolvers<ReadonlyArray<string>>();
    const events = {
      streamNames: () => names.promise,
      read: async () => void calls.push('read'),
    };
    const opened = new OpenedParts();
    const runtime = { config: { limits: { maxAppendBytes: 1_000 } }, events, leases: null, node: 'one', log, opened };
    const archive = openUsageArchive({ ...runtime, blobs: {} } as unknown as Runtime);
    const input = { before: new Date(clock.time() - 864_000_000).toISOString() };
    const refused = assert.rejects(archive.execute({ input } as unknown as Decoded<unknown, null>));
    await time.pass(1_000);
    void opened.close();
    await time.pass(20_000);
    names.resolve(['usage-1960-01-05-n1']);
    await time.pass(1_000);
    await refused;
    assert.deepEqual(calls, []);
  });
});
