import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { type Caller, canAccess, type Tenant } from '#domain/shared/access.ts';
import type { UsageSums } from '#domain/usage/usage-total.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { usageByDay, usageByHour, usageByMinute, usageByQuarterHour } from '#projections/usage/usage-by-period.ts';
import { seriesOf } from '#projections/usage/usage-group.ts';
import { type FiguresOwner, figuresOwner, narrowingReads } from '#queries/shared/figures-owner.ts';
import { periodsOf, type UsageRange } from '#queries/usage/usage-range.ts';
import { readRollup, readSeries, TooMuchUsageError } from '#queries/usage/usage-reader.ts';
import { gatewayInput } from './dashboard-input.ts';
import { GatewayAnswer, gatewayExample, type UsageInterval } from './gateway-answer.ts';
import {
  breakdownOf,
  curvesOf,
  failedTriesOf,
  gatewayFiguresOf,
  seriesOfSums,
  sumsByPeriod,
  sumUsage,
} from './gateway-figures.ts';
import { type GatewayRange, gatewayRange } from './gateway-range.ts';

/** Maximum number of documents that one breakdown reads. */
const maxDocuments = 20_000;

const Input = t.partial(gatewayInput);

type Input = t.TypeOf<typeof Input>;

const usageReads = {
  minute: usageByMinute,
  'quarter-hour': usageByQuarterHour,
  hour: usageByHour,
  day: usageByDay,
};
const reads = { ...narrowingReads, ...usageReads };

type UsageReaders = Readonly<Record<UsageInterval, CollectionReader>>;

export const getGatewayDashboard = query<Input, Tenant, GatewayAnswer, keyof typeof reads, 'gatewayHealth'>({
  about: {
    name: 'get_gateway_dashboard',
    summary: 'Read the figures of the gateway by time, model and target',
    description:
      'For everything that the key has access to, or for one organization, project, model or key. The default is the last ' +
      '24 hours. An interval is a minute (for at most 6 hours), a quarter of an hour (24 hours), an hour (14 days) or a day ' +
      '(400 days); the default depends on the length of the range. Minutes and quarters are kept for 2 days, hours for 90. ' +
      'Targets, failed tries and health are for operators.',
    group: 'Dashboard',
    example: { output: gatewayExample },
  },
  http: get('/v1/dashboard/gateway'),
  access: { scope: 'dashboard:read', subject: null },
  input: Input,
  output: GatewayAnswer,
  failures: ['project-not-found', 'organization-not-found'],
  reads,
  services: ['gatewayHealth'],
  readsMany: true,
  answer: async ({ input, time, request: { caller } }, { read, gatewayHealth }) => {
    const range = gatewayRange(input, time);
    if (E.isLeft(range)) return range;
    if (input.model !== undefined && input.keyId !== undefined)
      return E.left(invalidInput([{ pointer: '/keyId', message: 'cannot be given together with model' }]));
    const owner = await figuresOwner(caller, input, read);
    if (E.isLeft(owner)) return owner;
    try {
      const wanted = { input, caller, owner: owner.right, range: range.right };
      return E.right({ body: await answerOf(wanted, read, gatewayHealth) });
    } catch (error) {
      if (!(error instanceof TooMuchUsageError)) throw error;
      return E.left(invalidInput([{ pointer: '/from', message: 'asks for too much: use a shorter range' }]));
    }
  },
});

interface GatewayRequest {
  readonly input: Input;
  readonly caller: Caller;
  readonly owner: FiguresOwner;
  readonly range: GatewayRange;
}

async function answerOf(
  wanted: GatewayRequest,
  read: UsageReaders,
  gatewayHealth: () => GatewayAnswer['health'],
): Promise<GatewayAnswer> {
  const { series, breakdown, previous } = wanted.range;
  const sums = await sumsIn(series, wanted, read);
  const sumsBefore = previous === null ? null : await sumsIn(previous, wanted, read);
  const isOperator = wanted.caller.keyType === 'admin';
  return {
    from: series.from,
    until: series.until,
    interval: series.length,
    times: periodsOf(series),
    totals: gatewayFiguresOf(sumUsage(sums)),
    series: seriesOfSums(sums),
    previous:
      previous === null || sumsBefore === null
        ? null
        : { from: previous.from, totals: gatewayFiguresOf(sumUsage(sumsBefore)), series: curvesOf(sumsBefore) },
    operations: operationsOf(sums),
    breakdown: { interval: breakdown.length, times: periodsOf(breakdown) },
    ...(await breakdowns(wanted, read, isOperator)),
    health: isOperator ? gatewayHealth() : null,
  };
}

/** Sums one series by period: of a model, a key, or everything that the request covers. */
async function sumsIn(range: UsageRange, { input, caller, owner }: GatewayRequest, read: UsageReaders) {
  const { model, keyId } = input;
  const collection = read[range.length];
  // An owner may have sums in several series: those of keys whose owner the events do not name.
  const isWholeOwner = model === undefined && keyId === undefined && owner.kind !== 'all';
  const documents = isWholeOwner
    ? await readRollup(collection, range, owner.kind, owner, maxDocuments)
    : await readSeries(collection, range, requestedSeries(owner, model, keyId));
  const isOwn = ({ organizationId, projectId, partnerId }: (typeof documents)[number]) => {
    if (keyId === undefined) return true;
    const tenant = { organizationId: organizationId ?? '', projectId, partnerId };
    return canAccess(caller, tenant) && (owner.kind === 'all' || tenant[`${owner.kind}Id`] === owner.id);
  };
  return sumsByPeriod(documents.filter(isOwn), periodsOf(range));
}

function requestedSeries({ kind, id }: FiguresOwner, model: string | undefined, keyId: string | undefined): string {
  if (keyId !== undefined) return seriesOf('key', keyId);
  const ids = id === null ? [] : [id];
  return model === undefined ? seriesOf(kind, ...ids) : seriesOf(`${kind}/model`, ...ids, model);
}

type Breakdowns = Pick<GatewayAnswer, 'models' | 'targets' | 'routes' | 'failedTries'>;

async function breakdowns(
  { input, owner, range }: GatewayRequest,
  read: UsageReaders,
  isOperator: boolean,
): Promise<Breakdowns> {
  if (input.model !== undefined || input.keyId !== undefined)
    return { models: [], targets: null, routes: null, failedTries: null };
  const { breakdown } = range;
  const times = periodsOf(breakdown);
  const collection = read[breakdown.length];
  const ofModels = await readRollup(collection, breakdown, `${owner.kind}/model`, owner, maxDocuments);
  const models = breakdownOf(ofModels, times).map(({ model, calls, totals }) => ({ model, calls, totals }));
  if (!isOperator || owner.kind !== 'all') return { models, targets: null, routes: null, failedTries: null };
  const ofTargets = await readRollup(collection, breakdown, 'all/target', owner, maxDocuments);
  const ofRoutes = await readRollup(collection, breakdown, 'all/model/target', owner, maxDocuments);
  return {
    models,
    targets: breakdownOf(
      ofTargets.filter(({ target }) => target !== null),
      times,
    ).map(({ target, calls, totals }) => ({
      target,
      calls,
      totals,
    })),
    routes: breakdownOf(
      ofRoutes.filter(({ target }) => target !== null),
      times,
    ).map(({ model, target, calls, totals }) => ({ model, target, calls, total: totals.calls })),
    failedTries: failedTriesOf(ofModels),
  };
}

function operationsOf(sums: ReadonlyArray<UsageSums>): GatewayAnswer['operations'] {
  const names = [...new Set(sums.flatMap(({ operations }) => Object.keys(operations)))].toSorted();
  return names.map((operation) => {
    const calls = sums.map(({ operations }) => operations[operation] ?? 0);
    return { operation, calls, total: calls.reduce((total, count) => total + count, 0) };
  });
}
