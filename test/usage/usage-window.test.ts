import assert from 'node:assert/strict';
import { UsageWindow } from '#usage/usage-recorder.ts';
import { attemptRecord, callRecord, failedAttempts } from './call-records.ts';

const threeAttempts = [attemptRecord(), attemptRecord(), attemptRecord()];

describe('UsageWindow', () => {
  it('sums up calls of one key, model, target and outcome', () => {
    const window = new UsageWindow(10);
    window.add(callRecord({ tokens: { input: 10, output: 20, cachedInput: 4 } }));
    window.add(
      callRecord({ streamed: true, attempts: threeAttempts, headersMs: null, firstContentMs: null, totalMs: 300 }),
    );
    window.add(callRecord({ tokens: null, characters: 30, audioSeconds: 2.5, cost: null }));
    const [entry, ...others] = window.entries();
    assert.deepEqual(others, []);
    const { headersMs, firstContentMs, totalMs, ...sums } = entry ?? assert.fail('no entry');
    assert.deepEqual(sums, {
      keyId: callRecord().keyId,
      organizationId: 'cu6d0v4z8n2b7w1k5x9m3q7t',
      projectId: 'cr9t3q7x1m5k0z4v8d2n6b0w',
      partnerId: 'cq4m1x0tz8d2k6v9w3b5n7p1',
      operation: 'chat',
      model: 'gpt-large',
      target: 'openai/gpt-4.1',
      outcome: 'served',
      calls: 3,
      streamed: 1,
      attempts: 5,
      failedTries: [],
      callsWithTokens: 2,
      inputTokens: 20,
      outputTokens: 40,
      ...{ cachedInputTokens: 4, cacheWriteTokens: null, reasoningTokens: null },
      characters: 30,
      audioSeconds: 2.5,
      cost: 1,
    });
    assert.deepEqual([headersMs?.count, firstContentMs?.count, totalMs.count], [2, 2, 3]);
    assert.deepEqual([totalMs.min, totalMs.max, totalMs.sum], [100, 300, 500]);
  });

  it('counts failed attempts by target and error type, for any outcome of their calls', () => {
    const window = new UsageWindow(10);
    const [busy, broken] = [
      { target: 'openai/gpt-4.1', errorType: 'rate_limit_exceeded' },
      { target: 'openai/gpt-4.1', errorType: 'provider_reset' },
    ];
    const elsewhere = { target: 'azure/gpt-4.1', errorType: 'provider_reset' };
    window.add(callRecord({ attempts: failedAttempts(busy, busy, broken) }));
    window.add(callRecord({ attempts: failedAttempts(elsewhere) }));
    window.add(callRecord({ attempts: [...failedAttempts(busy), attemptRecord()] }));
    assert.deepEqual(window.entries()[0]?.failedTries, [
      { ...busy, tries: 3 },
      { ...broken, tries: 1 },
      { ...elsewhere, tries: 1 },
    ]);
  });

  it('distinguishes a limited number of error types, and counts the others as one more', () => {
    const window = new UsageWindow(10);
    for (let index = 0; index < 1_000; index += 1)
      window.add(callRecord({ attempts: failedAttempts({ target: `p/m${index % 50}`, errorType: `error${index}` }) }));
    const failed = window.entries()[0]?.failedTries ?? [];
    assert.equal(failed.length, 21);
    assert.deepEqual(failed.at(-1), { target: '_OTHER', errorType: '_OTHER', tries: 980 });
  });

  it('adds the usage of broken attempts to the sums of their targets, without a call', () => {
    const window = new UsageWindow(10);
    const broken = {
      target: 'azure/gpt-4.1',
      provider: 'azure',
      tokens: { input: 7, output: 3 },
      audioSeconds: null,
      cost: 0.25,
    };
    window.add(callRecord({ attempts: threeAttempts, brokenAttempts: [broken, broken] }));
    window.add(callRecord({ target: 'azure/gpt-4.1', brokenAttempts: [{ ...broken, cost: null }] }));
    const sums = window
      .entries()
      .map(({ target, calls, callsWithTokens, inputTokens, outputTokens, cost, totalMs }) => {
        return { target, calls, callsWithTokens, inputTokens, outputTokens, cost, latencies: totalMs.count };
      });
    assert.deepEqual(sums, [
      {
        target: 'openai/gpt-4.1',
        calls: 1,
        callsWithTokens: 1,
        inputTokens: 10,
        outputTokens: 20,
        cost: 0.5,
        latencies: 1,
      },
      {
        target: 'azure/gpt-4.1',
        calls: 1,
        callsWithTokens: 1,
        inputTokens: 31,
        outputTokens: 29,
        cost: 1,
        latencies: 1,
      },
    ]);
  });

  it('has sums of a target that only broken attempts used', () => {
    const window = new UsageWindow(10);
    const broken = { target: 'a/b', provider: 'a', tokens: null, audioSeconds: 1.5, cost: null };
    window.add(callRecord({ outcome: 'broken-off', brokenAttempts: [broken] }));
    const entry = window.entries()[1];
    assert.deepEqual(
      [entry?.target, entry?.outcome, entry?.calls, entry?.attempts, entry?.audioSeconds, entry?.cost],
      ['a/b', 'broken-off', 0, 0, 1.5, null],
    );
    assert.deepEqual(entry?.totalMs, { count: 0, sum: 0, min: 0, max: 0, bins: [] });
  });

  it('counts a call as lost when there is no room for the usage of its broken attempts', () => {
    const window = new UsageWindow(1);
    const broken = { target: 'a/b', provider: 'a', tokens: { input: 1, output: 1 }, audioSeconds: null, cost: null };
    window.add(callRecord({ brokenAttempts: [broken, broken] }));
    assert.deepEqual([window.calls, window.callsLost], [1, 1]);
  });

  it('distinguishes calls that differ in any label', () => {
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

  it('has no cost when no call has a cost', () => {
    const window = new UsageWindow(10);
    window.add(callRecord({ tokens: null, cost: null, headersMs: null, firstContentMs: null }));
    const [entry] = window.entries();
    assert.deepEqual(
      [entry?.cost, entry?.callsWithTokens, entry?.headersMs, entry?.firstContentMs],
      [null, 0, null, null],
    );
  });

  it('holds a limited number of sums, and counts the calls beyond them', () => {
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
