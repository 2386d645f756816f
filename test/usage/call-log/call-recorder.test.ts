import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Admission } from '#exchange/admission.ts';
import { RefusedWriteError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { attemptRecord, callRecord, failedAttempts } from '#test/usage/call-records.ts';
import type { LoggedCall } from '#usage/call-log/call-log.ts';
import { CallRecorder } from '#usage/call-log/call-recorder.ts';

const write = () => undefined;
const quiet = { info: write, warn: write, error: write };
const { endedAt } = callRecord();

describe('CallRecorder', () => {
  let stored: LoggedCall[];
  let isUnavailable: boolean;
  let now: number;
  let recorder: CallRecorder;
  beforeEach(() => {
    stored = [];
    isUnavailable = false;
    now = endedAt;
    const add = async (calls: ReadonlyArray<LoggedCall>) => {
      if (isUnavailable) throw new UnavailableError('The store is down.');
      stored.push(...calls);
    };
    recorder = new CallRecorder({ admission: new Admission(), calls: { add }, log: quiet, now: () => now });
  });

  it('stores a call with its attempts, its amounts and the cost of all attempts', async () => {
    const [busy] = failedAttempts({ target: 'openai/gpt-4.1', errorType: 'a text of the provider' });
    const attempts = [busy ?? assert.fail(), attemptRecord({ target: 'azure/gpt-4.1', startMs: 70.04 })];
    const broken = { target: 'openai/gpt-4.1', provider: 'openai', tokens: null, audioSeconds: null, cost: 0.25 };
    recorder.add([callRecord({ attempts, totalMs: 250, brokenAttempts: [broken], requestId: 'r' })]);
    await recorder.close();
    const [{ call, projectId } = assert.fail('nothing is stored')] = stored;
    assert.equal(projectId, callRecord().projectId);
    assert.deepEqual(
      [call.requestId, call.time, call.cost, call.inputTokens, call.outputTokens],
      ['r', new Date(endedAt - 250).toISOString(), 0.75, 10, 20],
    );
    assert.deepEqual(call.attempts, [
      {
        ...{ targetNumber: 1, target: 'openai/gpt-4.1', result: 'failed', status: 500 },
        ...{ reason: 'provider_failed', startMs: 1, durationMs: 99 },
      },
      {
        ...{ targetNumber: 2, target: 'azure/gpt-4.1', result: 'served', status: 200 },
        ...{ reason: null, startMs: 70, durationMs: 99 },
      },
    ]);
    assert.ok(!JSON.stringify(stored).includes('a text of the provider'));
  });

  it('gives attempts at the same target the same number', async () => {
    const attempts = ['a/x', 'b/y', 'a/x'].map((target) => attemptRecord({ target }));
    recorder.add([callRecord({ attempts })]);
    await recorder.close();
    assert.deepEqual(
      stored[0]?.call.attempts.map(({ targetNumber }) => targetNumber),
      [1, 2, 1],
    );
  });

  const callsWith = (prefix: string, count: number, given: Parameters<typeof callRecord>[0] = {}) =>
    Array.from({ length: count }, (_, index) => callRecord({ ...given, requestId: `${prefix}${index}` }));
  const storedOf = (projectId: string) =>
    stored.filter((call) => call.projectId === projectId).map(({ call }) => call.requestId);
  const busy = callRecord().projectId ?? assert.fail();

  it('stores the newest calls of a busy project and counts the others, and leaves those of other projects', async () => {
    const other = { projectId: 'cother', keyId: 'ckeyother' };
    recorder.add([...callsWith('first', 1, other), ...callsWith('busy', 2_000), ...callsWith('last', 1, other)]);
    await recorder.close();
    const left = storedOf(busy);
    assert.ok(left.length > 100 && left.length < 300, `${left.length} are stored`);
    assert.deepEqual(
      left,
      callsWith('busy', 2_000)
        .slice(-left.length)
        .map(({ requestId }) => requestId),
    );
    assert.deepEqual([storedOf('cother'), recorder.dropped], [['first0', 'last0'], 2_000 - left.length]);
  });

  it('keeps calls while the store is unavailable, within 4 MiB, and stores the newest of each project afterwards', async () => {
    isUnavailable = true;
    recorder.add(callsWith('other', 1, { projectId: 'cother' }));
    now += 600_000;
    for (let part = 0; part < 20; part += 1) {
      recorder.add(callsWith(`${part} `, 1_000));
      await recorder.close();
    }
    recorder.add(callsWith('third', 200, { projectId: 'cthird' }));
    await recorder.close();
    assert.equal(stored.length, 0);
    isUnavailable = false;
    await recorder.close();
    assert.ok(JSON.stringify(stored).length < 5 * 1024 * 1024);
    assert.deepEqual([storedOf('cother').length, storedOf('cthird').length], [1, 200]);
    const left = storedOf(busy);
    assert.equal(left.at(-1), '19 999');
    assert.ok(left.length > 1_000, `${left.length} are stored`);
    assert.equal(recorder.dropped, 20_000 - left.length);
  });

  it('stores all other calls when the store does not take one, and counts and logs that one', async () => {
    const lines: unknown[] = [];
    const add = async (calls: ReadonlyArray<LoggedCall>) => {
      if (calls.some(({ call }) => call.requestId === 'bad')) throw new TypeError('quotes bad');
      stored.push(...calls);
    };
    const log = { ...quiet, error: (fields: object) => void lines.push(fields) };
    recorder = new CallRecorder({ admission: new Admission(), calls: { add }, log, now: () => now });
    recorder.add(['a', 'b', 'bad', 'c', 'd', 'e'].map((requestId) => callRecord({ requestId })));
    await recorder.close();
    recorder.add([callRecord({ requestId: 'f' })]);
    await recorder.close();
    assert.deepEqual(
      stored.map(({ call }) => call.requestId),
      ['a', 'b', 'c', 'd', 'e', 'f'],
    );
    assert.equal(recorder.dropped, 1);
    assert.deepEqual(lines, [{ calls: 1, errors: ['TypeError'] }]);
  });

  for (const code of [13, 67, 8_000, 16_500]) {
    it(`keeps all calls when MongoDB answers with its error ${code}, which is not about them`, async () => {
      let fails = true;
      const add = async (calls: ReadonlyArray<LoggedCall>) => {
        if (fails) throw Object.assign(new Error('quotes a document'), { name: 'MongoServerError', code });
        stored.push(...calls);
      };
      recorder = new CallRecorder({ admission: new Admission(), calls: { add }, log: quiet, now: () => now });
      recorder.add(['a', 'b'].map((requestId) => callRecord({ requestId })));
      await recorder.close();
      fails = false;
      await recorder.close();
      assert.deepEqual([stored.length, recorder.dropped], [2, 0]);
    });
  }

  const faultsOfValues = [
    { name: 'MongoServerError', code: 10_334 },
    { name: 'MongoBulkWriteError', code: 17_280 },
    { name: 'BSONError' },
  ];
  for (const fault of faultsOfValues) {
    it(`drops one call alone when it causes ${fault.name} ${fault.code ?? ''}`, async () => {
      const add = async (calls: ReadonlyArray<LoggedCall>) => {
        if (calls.some(({ call }) => call.requestId === 'bad')) throw Object.assign(new Error('quotes bad'), fault);
        stored.push(...calls);
      };
      recorder = new CallRecorder({ admission: new Admission(), calls: { add }, log: quiet, now: () => now });
      recorder.add(['a', 'bad', 'b'].map((requestId) => callRecord({ requestId })));
      await recorder.close();
      assert.deepEqual([stored.length, recorder.dropped], [2, 1]);
    });
  }

  it('keeps the others when a record has no stored form while the store cannot be used', async () => {
    isUnavailable = true;
    recorder.add([callRecord({ requestId: 'a' }), callRecord({ endedAt: Number.NaN })]);
    await recorder.close();
    isUnavailable = false;
    await recorder.close();
    assert.deepEqual([stored.length, recorder.dropped], [1, 1]);
  });

  it('stores all others when a record has no stored form', async () => {
    recorder.add([callRecord({ requestId: 'a' }), callRecord({ endedAt: Number.NaN }), callRecord({ requestId: 'b' })]);
    await recorder.close();
    assert.deepEqual(
      stored.map(({ call }) => call.requestId),
      ['a', 'b'],
    );
    assert.equal(recorder.dropped, 1);
  });

  it('stores each call once, but for those that the store does not take, whenever the store cannot be used', async () => {
    const kinds = fc.array(fc.boolean(), { maxLength: 60 });
    const outages = fc.array(fc.boolean(), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(kinds, outages, async (areBad, areOutages) => {
        const taken: string[] = [];
        let adds = 0;
        const add = async (calls: ReadonlyArray<LoggedCall>) => {
          adds += 1;
          if (areOutages[adds]) throw new UnavailableError('The store is down.');
          if (calls.some(({ call }) => call.requestId.startsWith('bad')))
            throw new RefusedWriteError('It does not fit.');
          taken.push(...calls.map(({ call }) => call.requestId));
        };
        const each = new CallRecorder({ admission: new Admission(), calls: { add }, log: quiet, now: () => now });
        const ids = areBad.map((isBad, index) => `${isBad ? 'bad' : 'good'} ${index}`);
        each.add(ids.map((requestId) => callRecord({ requestId })));
        for (let tries = 0; tries <= areOutages.length; tries += 1) await each.close();
        assert.deepEqual(taken.toSorted(), ids.filter((id) => id.startsWith('good')).toSorted());
        assert.equal(each.dropped, areBad.filter(Boolean).length);
      }),
    );
  });
});
