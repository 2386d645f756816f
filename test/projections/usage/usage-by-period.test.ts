import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hourOf, type UsageEntry, type UsageEvents } from '#domain/usage/events.ts';
import { addUsage, noUsage, sumsOf, type UsageSums } from '#domain/usage/usage-total.ts';
import { minKeptMs } from '#projections/usage/period.ts';
import {
  type UsageDocument,
  usageByDay,
  usageByHour,
  usageByMinute,
  usageByPeriod,
  usageByQuarterHour,
} from '#projections/usage/usage-by-period.ts';
import { seriesOf } from '#projections/usage/usage-group.ts';
import { apiKeyCreated } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { usageDayClosed, usageEntry, usageRecorded } from '#test/support/events/usage-events.ts';
import { givenEvents, type ProjectedEvent } from '#test/support/harness/projection-harness.ts';

type Recorded = ReturnType<typeof usageRecorded> | ReturnType<typeof usageDayClosed> | ReturnType<typeof apiKeyCreated>;
type Documents = Readonly<Record<string, UsageDocument>>;

const accuracy = 0.02;

function project(projection: (typeof usageByPeriod)['day'], ...events: ReadonlyArray<Recorded>): Documents {
  const inStream = events.map(({ type, data }): ProjectedEvent => ({ stream: 'usage-x', type, data }));
  return givenEvents(...inStream).project(projection).documents as Documents;
}

function sumOf(documents: Documents, period: string, series: string): UsageSums | undefined {
  return documents[`${period}\n${series}`]?.sums;
}

/** Returns figures without the digits that depend on the order of addition. */
function figures(documents: Documents) {
  return Object.entries(documents)
    .map(([id, { sums, closed: _, ...group }]) => {
      const { cost, audioSeconds, ...counts } = sums;
      const near = (value: number) => Math.round(value * 1e6) / 1e6;
      return [id, { ...group, ...counts, cost: cost === null ? null : near(cost), audioSeconds: near(audioSeconds) }];
    })
    .filter(([, document]) => (document as { calls: number }).calls !== 0)
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}

/** Returns the event that an archive appends for a day before it removes the windows. */
function closingOf(day: string, windows: ReadonlyArray<UsageEvents['UsageRecorded']>, onlyKey?: string) {
  const usage = windows
    .filter(({ until }) => until.startsWith(day))
    .flatMap(({ until, usage }) => usage.map((entry) => ({ hour: hourOf(until), ...entry })))
    .filter(({ keyId }) => onlyKey === undefined || keyId === onlyKey);
  return usageDayClosed(day, usage);
}

const entry = fc
  .record({
    owner: fc.constantFrom('project', 'sibling', 'customer', 'stranger' as const),
    model: fc.constantFrom('large', 'small'),
    target: fc.constantFrom('a/one', 'b/two', null),
    outcome: fc.constantFrom('served', 'failed', 'broken-off', 'refused'),
    latencies: fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 4 }),
    cost: fc.constantFrom(null, 0.125, 3),
  })
  .map(({ owner, latencies, ...rest }): UsageEntry => {
    const keyId = `ckey${owner}0000001`;
    return usageEntry(latencies, {
      ...rest,
      keyId,
      ...tenants[owner as keyof typeof tenants],
      firstContent: latencies,
    });
  });

const day = '2026-03-04';
const window = fc
  .record({ second: fc.integer({ min: 0, max: 86_399 }), usage: fc.array(entry, { minLength: 1, maxLength: 4 }) })
  .map(({ second, usage }) => {
    const until = new Date(Date.parse(`${day}T00:00:00.000Z`) + second * 1000).toISOString();
    return usageRecorded(until, usage);
  });

describe('usageByPeriod', () => {
  describe('with usage that release 0.2.0 recorded, without the owners of keys', () => {
    const unnamed = { organizationId: null, projectId: null, partnerId: null };
    const until = '2026-03-04T10:00:30.000Z';
    const created = apiKeyCreated({ id: ids.key, projectId: ids.project, organizationId: ids.partner });
    const callsOf = (documents: Documents, rollup: string, projectId: string = ids.project) =>
      Object.values(documents)
        .filter((document) => document.rollup === rollup && document.projectId === projectId)
        .map(({ sums }) => sums.calls);

    it('counts it to the owner of its key', () => {
      const old = usageRecorded(until, [usageEntry([100, 200], { keyId: ids.key, ...unnamed })]);
      const later = usageRecorded(until, [usageEntry([100], { keyId: ids.key, ...tenants.project })]);
      for (const length of ['minute', 'hour', 'day'] as const) {
        const documents = project(usageByPeriod[length], created, old, later);
        for (const rollup of ['project', 'project/model'])
          assert.deepEqual(callsOf(documents, rollup).sort(), [1, 2], `${rollup} by ${length}`);
        assert.deepEqual(callsOf(documents, 'key'), [3]);
        assert.equal(Object.values(documents).find(({ rollup }) => rollup === 'all')?.sums.calls, 3);
      }
      assert.deepEqual(callsOf(project(usageByDay, created, old), 'row'), [2]);
    });

    it('counts it to no owner if its key is unknown', () => {
      const old = usageRecorded(until, [usageEntry([100], { keyId: 'ckeyunknown0001', ...unnamed })]);
      const documents = Object.values(project(usageByDay, created, old));
      assert.ok(documents.every(({ rollup }) => rollup === 'owner' || /^(?:all|key|row)/.test(rollup)));
    });

    it('counts it once when its day is closed, with and without the windows', () => {
      const old = usageRecorded(until, [usageEntry([100, 200], { keyId: ids.key, ...unnamed })]);
      const later = usageRecorded(until, [usageEntry([100], { keyId: ids.key, ...tenants.project })]);
      const closing = closingOf('2026-03-04', [old.data, later.data]);
      for (const windows of [[old, later], []]) {
        const documents = project(usageByDay, created, ...windows, closing);
        const calls = callsOf(documents, 'project').reduce((sum, one) => sum + one, 0);
        assert.deepEqual([calls, callsOf(documents, 'key')], [3, [3]], `${windows.length} windows`);
      }
      const alone = closingOf('2026-03-04', [old.data]);
      assert.deepEqual(callsOf(project(usageByDay, created, alone), 'project'), [2]);
    });
  });

  it('adds up the windows of several nodes, even late ones, in the period in which each window ended', () => {
    const documents = project(
      usageByMinute,
      usageRecorded('2026-03-04T10:00:59.000Z', [usageEntry([100])], 'node-1'),
      usageRecorded('2026-03-04T10:01:00.000Z', [usageEntry([100])], 'node-1'),
      usageRecorded('2026-03-04T10:00:30.000Z', [usageEntry([100, 200])], 'node-2'),
    );
    assert.equal(sumOf(documents, '2026-03-04T10:00:00.000Z', seriesOf('all'))?.calls, 3);
    assert.equal(sumOf(documents, '2026-03-04T10:01:00.000Z', seriesOf('all'))?.calls, 1);
    assert.equal(sumOf(documents, '2026-03-04T10:00:00.000Z', seriesOf('project', ids.project))?.inputTokens, 300);
  });

  it('gives the same sums as a count of the entries', () => {
    fc.assert(
      fc.property(fc.array(window, { maxLength: 12 }), (windows) => {
        for (const projection of [usageByMinute, usageByQuarterHour, usageByHour, usageByDay]) {
          const documents = project(projection, ...windows);
          const entries = windows.flatMap(({ data }) => data.usage);
          const all = (fits: (entry: UsageEntry) => boolean) =>
            entries.filter(fits).reduce((sum, one) => addUsage(sum, sumsOf(one, accuracy)), noUsage);
          const found = (rollup: string, fits: (document: UsageDocument) => boolean) =>
            Object.values(documents)
              .filter((document) => document.rollup === rollup && fits(document))
              .reduce((sum, document) => addUsage(sum, document.sums), noUsage);
          assert.deepEqual(
            found('all', () => true),
            all(() => true),
          );
          assert.deepEqual(
            found('all/model', ({ model }) => model === 'small'),
            all(({ model }) => model === 'small'),
          );
          assert.deepEqual(
            found('all/target', ({ target }) => target === null),
            all(({ target }) => target === null),
          );
          assert.deepEqual(
            found('partner/model', ({ partnerId, model }) => partnerId === ids.partner && model === 'large'),
            all(({ partnerId, model }) => partnerId === ids.partner && model === 'large'),
          );
          assert.deepEqual(
            found('organization', ({ organizationId }) => organizationId === ids.stranger),
            all(({ organizationId }) => organizationId === ids.stranger),
          );
          assert.deepEqual(
            found('key', ({ keyId }) => keyId === 'ckeysibling0000001'),
            all(({ keyId }) => keyId === 'ckeysibling0000001'),
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  for (const projection of [usageByHour, usageByDay]) {
    it(`gives the same figures before a day is closed, after it, and without its windows (${projection.name})`, () => {
      fc.assert(
        fc.property(fc.array(window, { minLength: 1, maxLength: 10 }), (windows) => {
          const closing = closingOf(
            day,
            windows.map(({ data }) => data),
          );
          const expected = figures(project(projection, ...windows));
          assert.deepEqual(figures(project(projection, ...windows, closing)), expected);
          assert.deepEqual(figures(project(projection, closing)), expected);
          assert.deepEqual(figures(project(projection, ...windows.slice(1), closing)), expected);
        }),
        { numRuns: 30 },
      );
    });

    it(`counts once a window that arrives after its day was closed, even after the day is closed again (${projection.name})`, () => {
      fc.assert(
        fc.property(fc.array(window, { minLength: 1, maxLength: 8 }), window, (windows, late) => {
          const first = closingOf(
            day,
            windows.map(({ data }) => data),
          );
          const all = [...windows, late];
          const keys = new Set(late.data.usage.map(({ keyId }) => keyId));
          const further = [...keys].map((key) =>
            closingOf(
              day,
              all.map(({ data }) => data),
              key,
            ),
          );
          const expected = figures(project(projection, ...all));
          assert.deepEqual(figures(project(projection, ...windows, first, late)), expected);
          assert.deepEqual(figures(project(projection, ...windows, first, late, ...further)), expected);
          assert.deepEqual(figures(project(projection, first, ...further)), expected);
        }),
        { numRuns: 30 },
      );
    });
  }

  it('keeps all younger usage when a window comes six days late', () => {
    const hours = Array.from({ length: 49 }, (_, hour) => Date.parse('2026-03-04T10:30:00.000Z') + hour * 3_600_000);
    const windows = hours.map((time) => usageRecorded(new Date(time).toISOString(), [usageEntry([100])]));
    for (let lateHours = 1; lateHours < 6 * 24; lateHours += 7) {
      const late = new Date((hours.at(-1) ?? 0) - lateHours * 3_600_000).toISOString();
      const documents = project(usageByMinute, ...windows, usageRecorded(late, [usageEntry([100])], 'node-2'));
      const kept = Object.values(documents).filter(({ rollup }) => rollup === 'all');
      assert.ok(kept.length >= windows.length, `${kept.length} after a window that is ${lateHours} h late`);
    }
  });

  it('completes a closed day whose rows were stored without their sums', () => {
    const closing = usageDayClosed(day, [{ hour: `${day}T10:00:00.000Z`, ...usageEntry([100, 200]) }]);
    const documents = project(usageByDay, closing);
    const rowId = Object.keys(documents).find((id) => documents[id]?.rollup === 'row') ?? '';
    const allId = Object.keys(documents).find((id) => documents[id]?.rollup === 'all') ?? '';
    const handle = usageByDay.on.UsageDayClosed as (
      document: UsageDocument | null,
      event: object,
      key: string,
      before: (id: string) => UsageDocument | null,
    ) => UsageDocument | null;
    const event = { position: 1, type: closing.type, data: closing.data };
    const completed = handle(null, event, allId, (id) => (id === rowId ? (documents[rowId] ?? null) : null));
    assert.deepEqual(completed?.sums, documents[allId]?.sums);
  });

  it('has no rows of keys by the minute', () => {
    const documents = project(usageByMinute, usageRecorded('2026-03-04T10:00:59.000Z', [usageEntry([100])]));
    assert.ok(!Object.values(documents).some(({ rollup }) => rollup === 'row'));
  });

  it('knows no tenant of calls that were recorded without one, and counts them for operators', () => {
    const unknown = { organizationId: null, projectId: null, partnerId: null };
    const documents = project(usageByDay, usageRecorded('2026-03-04T10:00:59.000Z', [usageEntry([100], unknown)]));
    const rollups = Object.values(documents).map(({ rollup }) => rollup);
    assert.deepEqual(
      rollups.toSorted(),
      ['all', 'all/model', 'all/model/target', 'all/target', 'key', 'row'].toSorted(),
    );
  });

  for (const [length, projection] of Object.entries(usageByPeriod)) {
    const kept = minKeptMs(length as keyof typeof usageByPeriod);
    it(`keeps usage by ${length} ${kept === null ? 'for ever' : `for ${kept / 3_600_000} hours, and only a little longer`}`, () => {
      const start = Date.parse('2026-03-04T10:30:00.000Z');
      const keptHours = (kept ?? 400 * 24 * 3_600_000) / 3_600_000;
      // One call for each hour or day, for four times as long as usage is kept.
      const stepHours = keptHours > 1_000 ? 24 : 1;
      const times = Array.from({ length: Math.ceil((4 * keptHours) / stepHours) }, (_, step) =>
        new Date(start + step * stepHours * 3_600_000).toISOString(),
      );
      const documents = project(projection, ...times.map((until) => usageRecorded(until, [usageEntry([100])])));
      const periods = Object.values(documents).flatMap(({ rollup, period }) => (rollup === 'all' ? [period] : []));
      const last = Date.parse(times.at(-1) ?? '');
      const ages = periods.map((period) => (last - Date.parse(period)) / 3_600_000);
      const keptTimes = times.filter((time) => last - Date.parse(time) <= keptHours * 3_600_000);
      assert.ok(periods.length >= keptTimes.length, `${periods.length} of ${keptTimes.length} periods`);
      if (kept !== null) assert.ok(Math.max(...ages) <= keptHours + 4 * stepHours, `${Math.max(...ages)} hours`);
      else assert.equal(periods.length, times.length);
    });
  }
});
