import assert from 'node:assert/strict';
import { pagesOf, type RawLog } from '#event-store/transfer/raw-log.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { someEvent } from '#test/contract/event-store.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';

const logOf = (count: number) =>
  new MemoryLog(Array.from({ length: count }, (_, revision) => ({ stream: 'thing-1', revision, ...someEvent() })));

describe('pagesOf', () => {
  it('gives every event up to a position once', async () => {
    const log = logOf(2_500);
    for (const last of [0, 1, 199, 200, 201, 400, 2_500]) {
      const revisions: number[] = [];
      for await (const page of pagesOf(log, last * 7)) revisions.push(...page.map(({ revision }) => revision));
      assert.deepEqual(
        revisions,
        Array.from({ length: last }, (_, revision) => revision),
      );
    }
  });

  it('does not take a log for the whole one that ends before the position', async () => {
    const pages: number[] = [];
    await assert.rejects(
      async () => {
        for await (const page of pagesOf(logOf(3), 1_000_000, 0, 50)) pages.push(page.length);
      },
      { name: 'UnavailableError', message: /ends at position 21, before the end that it had/ },
    );
    assert.deepEqual(pages, [3]);
  });

  it('waits for the events that a node of a cluster shows late', async () => {
    const whole = logOf(3);
    let reads = 0;
    const late: RawLog = {
      lastPosition: () => whole.lastPosition(),
      readRawLog: async (after, limit) => {
        reads += 1;
        const shown = await whole.readRawLog(after, limit);
        return reads < 3 ? shown.slice(0, after === 0 ? 1 : 0) : shown;
      },
    };
    const revisions: number[] = [];
    for await (const page of pagesOf(late, 3 * 7)) revisions.push(...page.map(({ revision }) => revision));
    assert.deepEqual(revisions, [0, 1, 2]);
  });

  it('handles the failure of a page that is read ahead and not used', async () => {
    const whole = logOf(2_000);
    const asked: number[] = [];
    const log: RawLog = {
      lastPosition: () => whole.lastPosition(),
      readRawLog: async (after, limit) => {
        asked.push(after);
        if (after === 0) return whole.readRawLog(after, limit);
        throw new UnavailableError('Gone.');
      },
    };
    // A rejection that nobody handles would fail the run.
    for await (const _page of pagesOf(log, await log.lastPosition())) break;
    assert.deepEqual(asked, [0, 200 * 7]);
    await assert.rejects(async () => {
      for await (const _page of pagesOf(log, await log.lastPosition()));
    }, UnavailableError);
  });
});
