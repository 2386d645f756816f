import assert from 'node:assert/strict';
import { LogEnd } from '#event-store/eventstoredb/log/log-end.ts';

describe('LogEnd', () => {
  it('closes although the server has not answered a read of the end', async () => {
    let asked = 0;
    const end = new LogEnd({
      ask: () => {
        asked += 1;
        return new Promise(() => {});
      },
      wakeUps: { pollMs: 0, start: () => () => {}, close: () => {} },
      onPage: () => {},
      onRemoved: () => {},
      onForeign: () => {},
    });
    const waiting = end.waitPast(1, new AbortController().signal);
    assert.equal(asked, 1);
    await end.close();
    await waiting;
  });
});
