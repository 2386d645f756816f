import assert from 'node:assert/strict';
import { UsageWindow } from '../../src/usage/usage-window.ts';
import { callRecord } from './call-records.ts';

describe('a window of usage', () => {
  it('sums up calls of one key, model, target and outcome', () => {
    const window = new UsageWindow(10);
    window.add(callRecord());
    window.add(callRecord({ streamed: true, attempts: 3, headersMs: null, firstContentMs: null, totalMs: 300 }));
    window.add(callRecord({ tokens: null, characters: 30, audioSeconds: 2.5, cost: null }));
    const [entry, ...others] = window.entries();
    assert.deepEqual(others, []);
    const { headersMs, firstContentMs, totalMs, ...sums } = entry ?? assert.fail('no entry');
    assert.deepEqual(sums, {
      keyId: callRecord().keyId,
      operation: 'chat',
      model: 'gpt-large',
      target: 'openai/gpt-4.1',
      outcome: 'served',
      calls: 3,
      streamed: 1,
      attempts: 5,
      callsWithTokens: 2,
      inputTokens: 20,
      outputTokens: 40,
      characters: 30,
      audioSeconds: 2.5,
      cost: 1,
    });
    assert.deepEqual([headersMs?.count, firstContentMs?.count, totalMs.count], [2, 2, 3]);
    assert.deepEqual([totalMs.min, totalMs.max, totalMs.sum], [100, 300, 500]);
  });

  it('tells apart what differs in any of them', () => {
    const window = new UsageWindow(10);
    const different = [
      { keyId: 'k2' },
      { model: 'm2' },
      { target: null },
      { outcome: 'failed' },
      { operation: 'speech' },
    ];
    for (const each of [{}, ...different]) window.add(callRecord(each as object));
    assert.deepEqual(
      window.entries().map(({ calls }) => calls),
      [1, 1, 1, 1, 1, 1],
    );
  });

  it('knows no cost where no call has one', () => {
    const window = new UsageWindow(10);
    window.add(callRecord({ tokens: null, cost: null, headersMs: null, firstContentMs: null }));
    const [entry] = window.entries();
    assert.deepEqual(
      [entry?.cost, entry?.callsWithTokens, entry?.headersMs, entry?.firstContentMs],
      [null, 0, null, null],
    );
  });

  it('has room for so many sums, and counts the calls beyond', () => {
    const window = new UsageWindow(2);
    for (const keyId of ['a', 'b', 'c', 'a', 'd']) window.add(callRecord({ keyId }));
    assert.deepEqual(
      window.entries().map(({ keyId, calls }) => [keyId, calls]),
      [
        ['a', 2],
        ['b', 1],
      ],
    );
    assert.deepEqual([window.calls, window.callsLost], [5, 2]);
  });
});
