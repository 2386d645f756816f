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

  it('ends at the end of the log', async () => {
    const pages: number[] = [];
    for await (const page of pagesOf(logOf(3), 1_000_000)) pages.push(page.length);
    assert.deepEqual(pages, [3]);
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
