import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { UsageEntry } from '#domain/usage/events.ts';
import { getUsage } from '#queries/usage/get-usage.ts';
import { type UsageAnswer, UsageAnswer as UsageAnswerCodec } from '#queries/usage/usage-answer.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { usageEntry, usageRecorded } from '#test/support/events/usage-events.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';

const dayMs = 86_400_000;
/** Recent whole days, because hours are kept for 90 days. */
const firstDay = new Date(Math.floor(Date.now() / dayMs) * dayMs - 6 * dayMs).toISOString();
const at = (ms: number) => new Date(Date.parse(firstDay) + ms).toISOString();

interface Call {
  readonly owner: keyof typeof tenants;
  readonly key: string;
  readonly model: string;
  readonly target: string | null;
  readonly endpoint: string;
  readonly outcome: string;
  readonly latencies: ReadonlyArray<number>;
  readonly cost: number | null;
  readonly withTokens: boolean;
  /** Null if its provider does not report them. */
  readonly cached: number | null;
  readonly untilMs: number;
}

const call: fc.Arbitrary<Call> = fc.record({
  owner: fc.constantFrom<keyof typeof tenants>('project', 'sibling', 'customer', 'stranger'),
  key: fc.constantFrom('one', 'two'),
  model: fc.constantFrom('large', 'small'),
  target: fc.constantFrom('a/one', 'b/two', null),
  endpoint: fc.constantFrom('chat', 'messages', 'embeddings'),
  outcome: fc.constantFrom('served', 'failed', 'broken-off', 'refused', 'client-gone'),
  latencies: fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 4 }),
  cost: fc.constantFrom(null, 0.125, 3),
  withTokens: fc.boolean(),
  cached: fc.constantFrom(null, 0, 5),
  untilMs: fc.integer({ min: 0, max: 5 * dayMs }),
});

const keyOf = ({ owner, key }: Call) => `ckey${key}${owner}`;

function entryOf(made: Call): UsageEntry {
  const { owner, model, target, endpoint, outcome, latencies, cost, withTokens, cached } = made;
  const tokens = withTokens ? {} : { callsWithTokens: 0, inputTokens: 0, outputTokens: 0 };
  const of = { keyId: keyOf(made), ...tenants[owner], model, target, operation: endpoint, outcome, cost };
  return usageEntry(latencies, { ...of, ...tokens, characters: 7, audioSeconds: 1.5, cachedInputTokens: cached });
}

const logOf = (calls: ReadonlyArray<Call>) =>
  givenLog({ 'usage-x': calls.map((made) => usageRecorded(at(made.untilMs), [entryOf(made)], made.key)) });

/** Computes rows from the calls themselves. */
function countedRows(calls: ReadonlyArray<Call>, groupBy: ReadonlyArray<string>) {
  const groups = new Map<string, Call[]>();
  for (const made of calls) {
    const until = at(made.untilMs);
    const members: Record<string, string | null> = {
      hour: `${until.slice(0, 13)}:00:00.000Z`,
      day: until.slice(0, 10),
      key: keyOf(made),
      project: tenants[made.owner].projectId,
      model: made.model,
      target: made.target,
      endpoint: made.endpoint,
    };
    const name = JSON.stringify(Object.fromEntries(groupBy.map((member) => [member, members[member]])));
    groups.set(name, [...(groups.get(name) ?? []), made]);
  }
  return new Map(Array.from(groups, ([name, made]) => [name, countedFigures(made)]));
}

function countedFigures(calls: ReadonlyArray<Call>) {
  const sum = (of: (made: Call) => number) => calls.reduce((all, made) => all + of(made), 0);
  const costs = calls.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    calls: sum(({ latencies }) => latencies.length),
    callsWithTokens: sum(({ withTokens, latencies }) => (withTokens ? latencies.length : 0)),
    errors: sum(({ outcome, latencies }) => (outcome === 'failed' || outcome === 'broken-off' ? latencies.length : 0)),
    inputTokens: sum(({ withTokens, latencies }) => (withTokens ? 100 * latencies.length : 0)),
    outputTokens: sum(({ withTokens, latencies }) => (withTokens ? 10 * latencies.length : 0)),
    characters: sum(() => 7),
    audioSeconds: sum(() => 1.5),
    cachedInputTokens: cachedIn(calls),
    cacheWriteTokens: null,
    reasoningTokens: null,
    cost: costs.length === 0 ? null : costs.reduce((all, cost) => all + cost, 0),
    latencies: calls.flatMap(({ latencies }) => latencies).toSorted((one, other) => one - other),
  };
}

/** What no provider has reported is null, and not 0. */
function cachedIn(calls: ReadonlyArray<Call>): number | null {
  const reported = calls.flatMap(({ cached }) => (cached === null ? [] : [cached]));
  return reported.length === 0 ? null : reported.reduce((all, each) => all + each, 0);
}

function assertQuantile(latencies: ReadonlyArray<number>, part: number, found: number | null) {
  const exact = latencies[Math.max(0, Math.ceil(part * latencies.length) - 1)] ?? 0;
  assert.ok(found !== null && Math.abs(found - exact) <= 0.021 * exact + 0.1, `${found} is not near ${exact}`);
}

function assertRows({ rows }: UsageAnswer, calls: ReadonlyArray<Call>, groupBy: ReadonlyArray<string>) {
  const expected = countedRows(calls, groupBy);
  const found = rows.map(({ p50Ms, p95Ms, p99Ms, ...row }) => {
    const name = JSON.stringify(Object.fromEntries(groupBy.map((member) => [member, row[member as 'key']])));
    const { latencies = [], ...figures } = expected.get(name) ?? {};
    const plain = Object.fromEntries(Object.entries(row).filter(([member]) => !groupBy.includes(member)));
    assert.deepEqual(plain, figures, name);
    assertQuantile(latencies, 0.5, p50Ms);
    assertQuantile(latencies, 0.95, p95Ms);
    assertQuantile(latencies, 0.99, p99Ms);
    return name;
  });
  assert.deepEqual(found.toSorted(), [...expected.keys()].toSorted());
}

const groupings = [
  ['endpoint'],
  ['day', 'endpoint', 'model'],
  ['day'],
  ['hour'],
  ['model'],
  ['key'],
  ['project'],
  ['target'],
  ['model', 'target'],
  ['project', 'target'],
  ['key', 'model'],
  ['day', 'project', 'model'],
  ['hour', 'key', 'project', 'model', 'target'],
];

const range = { from: firstDay, until: at(6 * dayMs) };
const some = (calls: Partial<Call>): Call => ({
  owner: 'project',
  key: 'one',
  model: 'large',
  target: 'a/one',
  endpoint: 'chat',
  outcome: 'served',
  latencies: [100],
  cost: 0.5,
  withTokens: true,
  cached: null,
  untilMs: 3_600_000,
  ...calls,
});

describe('getUsage', () => {
  it('answers the same figures as a count of the log, for every grouping of rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(...groupings),
        async (calls, groupBy) => {
          const { body } = await logOf(calls).ask(getUsage, { ...range, groupBy: groupBy.join(',') });
          assert.ok(UsageAnswerCodec.is(body));
          assertRows(body, calls, groupBy);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('counts each call in whole hours of the range once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 4 * 24 }),
        fc.integer({ min: 1, max: 48 }),
        async (calls, fromHour, hours) => {
          const from = at(fromHour * 3_600_000 + 60_000);
          const until = at((fromHour + hours) * 3_600_000 - 60_000);
          const inside = calls.filter(
            ({ untilMs }) => untilMs >= fromHour * 3_600_000 && untilMs < (fromHour + hours) * 3_600_000,
          );
          const { body } = await logOf(calls).ask(getUsage, { from, until, groupBy: 'key' });
          assertRows(body as unknown as UsageAnswer, inside, ['key']);
        },
      ),
      { numRuns: 40 },
    );
  });

  for (const [keyType, seen] of [
    ['admin', ['project', 'sibling', 'customer', 'stranger']],
    ['partner', ['project', 'sibling', 'customer']],
    ['organization', ['project', 'sibling']],
    ['project', ['project']],
  ] as const) {
    it(`shows a key of type ${keyType} only the usage that it can access`, async () => {
      const calls = (['project', 'sibling', 'customer', 'stranger'] as const).map((owner) => some({ owner }));
      for (const groupBy of [['project'], ['key'], ['model'], ['day'], ['key', 'model']]) {
        const { body } = await logOf(calls).ask(
          getUsage,
          { ...range, groupBy: groupBy.join(',') },
          callerOf(keyType, { keyId: 'ckeyasking000000' }),
        );
        const reached = calls.filter(({ owner }) => (seen as ReadonlyArray<string>).includes(owner));
        assertRows(body as unknown as UsageAnswer, reached, groupBy);
      }
    });
  }

  it('refuses targets to every key but an operator’s with 403', async () => {
    for (const keyType of ['partner', 'organization', 'project'] as const) {
      const answer = await logOf([]).ask(getUsage, { ...range, groupBy: 'target' }, callerOf(keyType));
      assert.equal(answer.refusal, 'key-type-not-allowed');
    }
  });

  it('requires the scope usage:read', async () => {
    const answer = await logOf([]).ask(getUsage, range, callerOf('project', { scopes: ['dashboard:read'] }));
    assert.equal(answer.refusal, 'scope-required');
  });

  for (const [what, input] of Object.entries({
    'an unknown grouping': { groupBy: 'colour' },
    'hour and day together': { groupBy: 'hour,day' },
    'a grouping twice': { groupBy: 'key,key' },
    'a time that is none': { from: 'yesterday' },
    'an end before the beginning': { from: range.until, until: range.from },
    'more than 400 days': { from: '2020-01-01T00:00:00Z', until: '2026-01-01T00:00:00Z' },
    'more than 31 days by the hour': { from: at(-40 * dayMs), until: range.until, groupBy: 'hour' },
    'hours of more than 90 days ago': { from: at(-100 * dayMs), until: at(-99 * dayMs), groupBy: 'hour' },
  })) {
    it(`refuses ${what} with 422`, async () => {
      assert.equal((await logOf([]).ask(getUsage, input)).refusal, 'invalid-input');
    });
  }

  it('answers another tenant’s project and organization with 404', async () => {
    const log = logOf([]);
    const strange = { ...range, projectId: ids.strangerProject };
    assert.equal((await log.ask(getUsage, strange, callerOf('partner'))).refusal, 'project-not-found');
    const organization = { ...range, organizationId: ids.stranger };
    assert.equal((await log.ask(getUsage, organization, callerOf('partner'))).refusal, 'organization-not-found');
  });

  it('has a row without calls only when rows are not grouped', async () => {
    const { body } = await logOf([]).ask(getUsage, range);
    assert.deepEqual((body as unknown as UsageAnswer).rows, []);
  });

  it('answers the rows as a table on request', async () => {
    const calls = [some({ model: '=cmd()' }), some({ model: 'small', cost: null, untilMs: 2 * dayMs })];
    const { contentType, chunks } = await logOf(calls).export(getUsage, 'text/csv', { ...range, groupBy: 'day,model' });
    assert.equal(contentType, 'text/csv; charset=utf-8; header=present');
    let text = '';
    for await (const chunk of chunks) text += chunk;
    const [head, ...lines] = text.split('\r\n');
    assert.equal(
      head,
      'day,model,calls,callsWithTokens,errors,inputTokens,outputTokens,characters,audioSeconds,cost,p50Ms,p95Ms,p99Ms,cachedInputTokens,cacheWriteTokens,reasoningTokens',
    );
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, -6).join(',')),
      [
        `${at(0).slice(0, 10)},'=cmd(),1,1,0,100,10,7,1.5,0.5`,
        `${at(2 * dayMs).slice(0, 10)},small,1,1,0,100,10,7,1.5,`,
        '',
      ],
    );
  });

  it('answers the same rows as a table as it answers in JSON, for every grouping', async () => {
    const calls = Array.from({ length: 60 }, (_, index) =>
      some({
        model: index % 3 === 0 ? 'large' : 'small',
        untilMs: (index * 7 * dayMs) / 60,
        key: index % 2 ? 'one' : 'two',
      }),
    );
    const log = logOf(calls);
    for (const groupBy of ['hour', 'day', 'day,model', 'hour,key,model', 'model', 'key,model']) {
      const input = { from: at(-40 * dayMs), until: at(6 * dayMs), groupBy };
      const wanted = groupBy.includes('hour') ? { ...input, from: at(-20 * dayMs) } : input;
      const { body } = await log.ask(getUsage, wanted);
      const { chunks } = await log.export(getUsage, 'text/csv', wanted);
      let text = '';
      for await (const chunk of chunks) text += chunk;
      const members = groupBy.split(',');
      const expected = (body as unknown as UsageAnswer).rows.map((row) =>
        [...members.map((member) => row[member as 'day']), row.calls].join(','),
      );
      const lines = text.split('\r\n').slice(1, -1);
      assert.deepEqual(
        lines.map((line) =>
          line
            .split(',')
            .slice(0, members.length + 1)
            .join(','),
        ),
        expected,
        groupBy,
      );
    }
  });
});
