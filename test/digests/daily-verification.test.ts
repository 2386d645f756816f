import assert from 'node:assert/strict';
import {
  DailyVerification,
  type DailyVerificationOptions,
  readVerification,
  readVerifiedTime,
} from '#digests/daily-verification.ts';
import type { VerificationResult } from '#digests/verify-history.ts';
import type { DigestPlace } from '#domain/history/digest.ts';
import { replaceClock } from '#shared/clock.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';

const hourMs = 3_600_000;
const never = new AbortController().signal;

describe('DailyVerification', () => {
  let records: InMemoryRecordStore;
  let now: number;
  let putClockBack: () => void;
  let hasDigest: boolean;
  let lines: string[];
  let result: Omit<VerificationResult, 'isWhole'>;
  let asked: Array<DigestPlace | null>;
  let daily: DailyVerification;
  let verify: DailyVerificationOptions['verify'];
  const at = (time: string) => {
    now = Date.parse(time);
  };

  beforeEach(() => {
    putClockBack = replaceClock({ time: () => now });
    records = new InMemoryRecordStore();
    hasDigest = true;
    asked = [];
    lines = [];
    result = { events: 7, digest: { chain: 1, number: 4 }, findings: [], findingCount: 0 };
    const line = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`);
    verify = async (since) => {
      asked.push(since);
      return { ...result, isWhole: since === null };
    };
    daily = new DailyVerification({
      records,
      hasDigest: async () => hasDigest,
      verify: (...given) => verify(...given),
      atMinutes: 210,
      log: { info: line('info'), warn: line('warn'), error: line('error') },
    });
  });

  afterEach(() => putClockBack());

  // 5 January 2026 is a Monday.
  it('verifies all at first, and then, once a day, what is new', async () => {
    at('2026-01-05T12:00:00Z');
    assert.equal(await daily.verifyIfDue(never), hourMs);
    at('2026-01-06T03:29:00Z');
    assert.equal(await daily.verifyIfDue(never), 60_000);
    at('2026-01-06T03:30:00Z');
    await daily.verifyIfDue(never);
    at('2026-01-06T23:00:00Z');
    assert.equal(await daily.verifyIfDue(never), hourMs);
    assert.deepEqual(asked, [null, { chain: 1, number: 4 }]);
    const last = await readVerification(records);
    assert.deepEqual(
      [last?.time, last?.wholeTime, last?.events],
      ['2026-01-06T03:30:00.000Z', '2026-01-05T12:00:00.000Z', 7],
    );
  });

  it('verifies all on Sundays, also when that Sunday was missed', async () => {
    at('2026-01-05T12:00:00Z');
    await daily.verifyIfDue(never);
    at('2026-01-11T03:30:00Z');
    await daily.verifyIfDue(never);
    at('2026-01-12T03:30:00Z');
    await daily.verifyIfDue(never);
    at('2026-01-19T04:00:00Z');
    await daily.verifyIfDue(never);
    assert.deepEqual(asked, [null, null, { chain: 1, number: 4 }, null]);
  });

  it('logs a finding, and verifies all the next time', async () => {
    at('2026-01-05T12:00:00Z');
    await daily.verifyIfDue(never);
    result = { ...result, digest: null, findings: ['flow-a was altered'], findingCount: 3 };
    at('2026-01-06T04:00:00Z');
    await daily.verifyIfDue(never);
    assert.equal((await readVerification(records))?.findingCount, 3);
    assert.match(lines.at(-1) ?? '', /^error: The log is not as its digests were made of/);
    result = { ...result, digest: { chain: 1, number: 9 }, findings: [], findingCount: 0 };
    at('2026-01-07T04:00:00Z');
    await daily.verifyIfDue(never);
    assert.deepEqual(asked, [null, { chain: 1, number: 4 }, null]);
    assert.deepEqual((await readVerification(records))?.findings, []);
  });

  it('waits for the first digest', async () => {
    at('2026-01-05T12:00:00Z');
    hasDigest = false;
    assert.equal(await daily.verifyIfDue(never), 600_000);
    assert.deepEqual([asked, await readVerification(records)], [[], null]);
  });

  it('remembers since when a log that was never verified can be, over restarts', async () => {
    at('2026-01-05T12:00:00Z');
    hasDigest = false;
    await daily.verifyIfDue(never);
    assert.equal(await readVerifiedTime(records), null, 'there is nothing to verify');
    hasDigest = true;
    const works = verify;
    verify = async () => Promise.reject(new Error('The log cannot be read.'));
    const since = now;
    for (const time of ['2026-01-05T12:00:00Z', '2026-01-06T12:00:00Z', '2026-01-08T12:00:00Z']) {
      at(time);
      await assert.rejects(daily.verifyIfDue(never));
      assert.equal(await readVerifiedTime(records), since);
    }
    verify = works;
    await daily.verifyIfDue(never);
    assert.equal(await readVerifiedTime(records), now);
  });

  it('verifies all when the record of the last time cannot be read', async () => {
    at('2026-01-05T12:00:00Z');
    await records.put('verification', new Map([['last', { time: 'yesterday' }]]));
    await daily.verifyIfDue(never);
    assert.deepEqual(asked, [null]);
  });
});
