import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { acceptedType } from '#application/operations/accepted-type.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instant } from '#domain/codecs/time.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { usageByDay, usageByHour } from '#projections/usage/usage-by-period.ts';
import { type FiguresOwner, figuresOwner, narrowingReads } from '#queries/shared/figures-owner.ts';
import { GroupBy, type Grouping, rollupFor } from './group-by.ts';
import { UsageAnswer } from './usage-answer.ts';
import { UsageRows, usageCsv } from './usage-export.ts';
import { chunksOf, hoursOrDays, keptSince, shifted, type UsageRange, wholeDaysAndHours } from './usage-range.ts';
import { passRollup, TooMuchUsageError } from './usage-reader.ts';

const dayMs = 24 * 60 * 60 * 1_000;

const maxDays = 400;
const maxDaysByHour = 31;
const maxDocuments = 100_000;
const maxRows = 10_000;

/** Media types of an answer as a table. */
const tableTypes = ['text/csv'];

/** The default range if the request has no `from`. */
const defaultDays = 30;

const Input = t.partial({ from: instant, until: instant, groupBy: GroupBy, organizationId: cuid, projectId: cuid });

type Input = t.TypeOf<typeof Input>;

const reads = { ...narrowingReads, hours: usageByHour, days: usageByDay };

export const getUsage = query<Input, Tenant, UsageAnswer, keyof typeof reads>({
  about: {
    name: 'get_usage',
    summary: 'Read the usage and the cost of gateway calls',
    description:
      'For everything that the key has access to, or for one organization or project. `from` is included, `until` is not. ' +
      'The range is extended to whole hours in UTC, and to whole days if it is more than 90 days ago. The default is the ' +
      `last ${defaultDays} days. Usage appears some seconds after the calls. With \`Accept: text/csv\`, the rows are a table. ` +
      '`groupBy=target` is for operators.',
    group: 'Usage',
    example: {
      output: {
        from: '2026-01-01T00:00:00.000Z',
        until: '2026-01-02T00:00:00.000Z',
        rows: [
          {
            day: '2026-01-01',
            model: 'gpt-large',
            calls: 812,
            callsWithTokens: 790,
            errors: 3,
            inputTokens: 504_310,
            outputTokens: 131_842,
            cachedInputTokens: 96_256,
            cacheWriteTokens: null,
            reasoningTokens: 12_480,
            characters: 0,
            audioSeconds: 0,
            cost: 2.06,
            p50Ms: 1890.2,
            p95Ms: 5104.7,
            p99Ms: 8612.9,
          },
        ],
      },
    },
  },
  http: get('/v1/usage'),
  access: { scope: 'usage:read', subject: null },
  input: Input,
  output: UsageAnswer,
  failures: ['project-not-found', 'organization-not-found'],
  reads,
  produces: tableTypes,
  answer: async ({ input, time, request: { caller, accept } }, { read }) => {
    const isTable = acceptedType(accept, tableTypes) !== null;
    const wanted = usageRequestOf(input, time);
    const refusal = checkRange(wanted, time) ?? checkGroupBy(wanted, caller.keyType === 'admin');
    if (refusal !== null) return E.left(refusal);
    const owner = await figuresOwner(caller, input, read);
    if (E.isLeft(owner)) return owner;
    try {
      const ranges = rangesOf(wanted, time);
      const rowsIn = (some: ReadonlyArray<UsageRange>) =>
        rowsOf(wanted.groupBy, some, owner.right, { hour: read.hours, day: read.days });
      // Rows of a time are made when the client has taken those of the time before.
      if (isTable && isByTime(wanted)) {
        return E.right({ stream: usageCsv(wanted.groupBy, partsOf(ranges.flatMap(chunksOf), rowsIn)) });
      }
      const rows = await rowsIn(ranges);
      if (isTable) return E.right({ stream: usageCsv(wanted.groupBy, [rows]) });
      if (rows.size > maxRows) return E.left(tooMuch(`The answer has more than ${maxRows} rows`));
      const [from, until] = hoursOrDays(wanted.from, wanted.until, time);
      return E.right({ body: { from, until, rows: await rows.rows() } });
    } catch (error) {
      if (error instanceof TooMuchUsageError) return E.left(tooMuch(error.message.replace(/\.$/, '')));
      throw error;
    }
  },
});

interface UsageRequest {
  readonly from: string;
  readonly until: string;
  readonly groupBy: ReadonlyArray<Grouping>;
}

function usageRequestOf({ from, until, groupBy }: Input, now: string): UsageRequest {
  const end = until ?? now;
  return { from: from ?? shifted(end, -defaultDays * dayMs), until: end, groupBy: groupBy ?? ['day'] };
}

function checkRange({ from, until, groupBy }: UsageRequest, now: string): Failure | null {
  const days = (Date.parse(until) - Date.parse(from)) / dayMs;
  if (days <= 0) return invalidInput([{ pointer: '/until', message: `must be later than from, which is ${from}` }]);
  if (days > maxDays)
    return invalidInput([{ pointer: '/from', message: `must be at most ${maxDays} days before until` }]);
  if (!groupBy.includes('hour')) return null;
  if (days > maxDaysByHour) {
    const message = `must be at most ${maxDaysByHour} days before until with groupBy=hour; use day`;
    return invalidInput([{ pointer: '/from', message }]);
  }
  if (from >= (keptSince('hour', now) ?? '')) return null;
  return invalidInput([{ pointer: '/from', message: 'must be at most 90 days ago with groupBy=hour; use day' }]);
}

function checkGroupBy({ groupBy }: UsageRequest, isOperator: boolean): Failure | null {
  if (isOperator || !groupBy.includes('target')) return null;
  return failure('key-type-not-allowed', 'groupBy=target is for operators: it needs a key of type admin.');
}

const isByTime = ({ groupBy }: UsageRequest) => groupBy.includes('hour') || groupBy.includes('day');

async function* partsOf(
  ranges: ReadonlyArray<UsageRange>,
  rowsIn: (ranges: ReadonlyArray<UsageRange>) => Promise<UsageRows>,
): AsyncGenerator<UsageRows, void, void> {
  for (const range of ranges) yield await rowsIn([range]);
}

async function rowsOf(
  groupBy: ReadonlyArray<Grouping>,
  ranges: ReadonlyArray<UsageRange>,
  owner: FiguresOwner,
  collections: Readonly<Record<'hour' | 'day', Parameters<typeof passRollup>[0]>>,
): Promise<UsageRows> {
  const rows = new UsageRows(groupBy);
  const rollup = rollupFor(groupBy, owner);
  let documentsLeft = maxDocuments;
  for (const range of ranges) {
    const collection = range.length === 'hour' ? collections.hour : collections.day;
    documentsLeft -= await passRollup(collection, range, rollup, owner, documentsLeft, (document) =>
      rows.add(document),
    );
  }
  return rows;
}

function rangesOf({ from, until, groupBy }: UsageRequest, now: string): ReadonlyArray<UsageRange> {
  if (!groupBy.includes('hour')) return wholeDaysAndHours(from, until, now);
  const [start, end] = hoursOrDays(from, until, now);
  return [{ length: 'hour', from: start, until: end }];
}

function tooMuch(what: string): Failure {
  return invalidInput([
    { pointer: '/groupBy', message: `asks for too much: ${what}. Use a shorter range, fewer groups or one project` },
  ]);
}
