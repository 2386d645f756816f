import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { type CollectionReader, listInput, listItems, nextCursorOutput } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import type { FlowVersionRecord } from '#domain/flow/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type ActivityDocument, activity, everId } from '#projections/figures/activity.ts';
import { scopeOf } from '#projections/figures/figures-scope.ts';
import { type ActiveVersion, type FlowFiguresDocument, flowFigures } from '#projections/figures/flow-figures.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { figuresOwner, narrowingReads, ownedBy } from '#queries/shared/figures-owner.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { encodeJson } from '#shared/json/json.ts';
import { dayRange, tenantFilters } from './dashboard-input.ts';
import { type DayRange, lastDays, sumOf } from './days.ts';
import { readActivity } from './read-activity.ts';

const counts = t.readonlyArray(t.number);

export const FlowFigures = t.type(
  {
    flowId: cuid,
    projectId: cuid,
    organizationId: cuid,
    name: text(),
    /** The numbers of existing and of deleted versions. */
    versions: t.number,
    deletedVersions: t.number,
    /** How often a version was activated, the first one included. */
    activations: t.number,
    newestVersion: t.type({ id: cuid, number: t.number, tag: text(), createdAt: timestamp }),
    /** Null while the read model of versions is behind. */
    activeVersion: nullable(t.type({ id: cuid, number: t.number, tag: text(), since: timestamp })),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'FlowFigures',
);

export type FlowFigures = t.TypeOf<typeof FlowFigures>;

/** Arrays of figures are by day. */
export const FlowsAnswer = t.intersection(
  [
    t.type({
      from: timestamp,
      until: timestamp,
      /** Each day in UTC, `2026-01-05`, oldest first. */
      days: t.readonlyArray(text()),
      /** Created and activated versions, the first versions of new flows included. */
      versionsCreated: counts,
      activations: counts,
      totals: t.type({
        flows: t.number,
        versionsCreated: t.number,
        previousVersionsCreated: t.number,
        activations: t.number,
        previousActivations: t.number,
      }),
      /** A page of the existing flows: `limit`, `cursor`, `sort` as in every list. */
      flows: t.readonlyArray(FlowFigures),
    }),
    nextCursorOutput,
  ],
  'DashboardFlows',
);

export type FlowsAnswer = t.TypeOf<typeof FlowsAnswer>;

const defaultDays = 30;
const defaultLimit = 50;

const Input = t.partial({ ...dayRange, ...tenantFilters, ...listInput });

const reads = { ...narrowingReads, activity, flows: flowFigures, versions: flowVersions };

const exampleVersion = {
  id: 'cz7t3m1kx0q4v8d2w6b9n5p0k2p4x8q1',
  number: 2,
  tag: 'v2',
};

export const getFlowsDashboard = query<t.TypeOf<typeof Input>, Tenant, FlowsAnswer, keyof typeof reads>({
  about: {
    name: 'get_flows_dashboard',
    summary: 'Read the numbers of versions and activations of flows',
    description:
      'For everything that the key has access to, or for one organization or project: versions created and activated in ' +
      'the last `days` (default 30, today included) and in the same time before, and a page of flows (default 50).',
    group: 'Dashboard',
    example: {
      output: {
        from: '2026-01-04T00:00:00.000Z',
        until: '2026-01-05T09:30:00.000Z',
        days: ['2026-01-04', '2026-01-05'],
        versionsCreated: [0, 2],
        activations: [0, 2],
        totals: { flows: 1, versionsCreated: 2, previousVersionsCreated: 0, activations: 2, previousActivations: 0 },
        flows: [
          {
            flowId: 'cz7t3m1kx0q4v8d2w6b9n5p0',
            projectId: 'cm3v8k2p90000qzrm4d1x7w5b',
            organizationId: 'cm3v8k2p90000qzrm4d1x7w5c',
            name: 'Greeting',
            versions: 2,
            deletedVersions: 0,
            activations: 2,
            newestVersion: { ...exampleVersion, createdAt: '2026-01-05T09:00:00.000Z' },
            activeVersion: { ...exampleVersion, since: '2026-01-05T09:10:00.000Z' },
            createdAt: '2026-01-05T08:00:00.000Z',
            updatedAt: '2026-01-05T09:10:00.000Z',
          },
        ],
      },
    },
  },
  http: get('/v1/dashboard/flows'),
  access: { scope: 'dashboard:read', subject: null },
  input: Input,
  output: FlowsAnswer,
  failures: ['project-not-found', 'organization-not-found'],
  reads,
  paged: true,
  answer: async ({ input, time, request: { caller } }, { read }) => {
    const owner = await figuresOwner(caller, input, read);
    if (E.isLeft(owner)) return owner;
    const { kind, id } = owner.right;
    const scope = scopeOf(kind, id);
    const range = lastDays(input.days ?? defaultDays, time);
    const byDay = await readActivity(read.activity, scope, range.months);
    const ever = await read.activity.get<ActivityDocument>(everId(scope));
    const types = ever?.value.types ?? {};
    const list = {
      where: ownedBy(owner.right),
      input: { ...input, limit: input.limit ?? defaultLimit },
      name: 'flows',
    } as const;
    const page = await listItems<FlowFiguresDocument, 'flows', FlowFigures>(read.flows, list, async (page) => {
      const reactivated = await readReactivated(read.versions, page);
      return (flow) => figuresOf(flow, reactivated);
    });
    const { flows, nextCursor } = JSON.parse(textOf(page.body));
    const body: FlowsAnswer = {
      ...{ from: range.from, until: range.until, days: range.days },
      ...figuresByDay(range, byDay, (types.FlowCreated ?? 0) - (types.FlowDeleted ?? 0)),
      flows,
      ...(nextCursor === undefined ? {} : { nextCursor }),
    };
    return E.right({ body, ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) });
  },
});

const textOf = (body: Parameters<typeof encodeJson>[0]) => encodeJson(body).text;

function figuresByDay(
  { days, previousDays }: DayRange,
  byDay: ReadonlyMap<string, ActivityDocument>,
  flows: number,
): Pick<FlowsAnswer, 'versionsCreated' | 'activations' | 'totals'> {
  const of = (type: string, some: ReadonlyArray<string>) => some.map((day) => byDay.get(day)?.types[type] ?? 0);
  const versionsCreated = of('FlowVersionCreated', days);
  const activations = of('FlowVersionActivated', days);
  return {
    versionsCreated,
    activations,
    totals: {
      flows,
      versionsCreated: sumOf(versionsCreated),
      previousVersionsCreated: sumOf(of('FlowVersionCreated', previousDays)),
      activations: sumOf(activations),
      previousActivations: sumOf(of('FlowVersionActivated', previousDays)),
    },
  };
}

/** Reads, by id, the versions of which the figures of a page have only the id. */
async function readReactivated(
  versions: CollectionReader,
  page: ReadonlyArray<StoredDocument<FlowFiguresDocument>>,
): Promise<ReadonlyMap<string, FlowVersionRecord>> {
  const ids = page.flatMap(({ value: { active } }) => (active === null || 'number' in active ? [] : [active.id]));
  const found = await Promise.all(ids.map((id) => versions.get<FlowVersionDocument>(id)));
  return new Map(found.flatMap((version) => (version === null ? [] : [[version.id, version.value.record]])));
}

function figuresOf(
  { id, value }: StoredDocument<FlowFiguresDocument>,
  reactivated: ReadonlyMap<string, FlowVersionRecord>,
): FlowFigures {
  const { organizationId, projectId, name, versions, deletedVersions, activations, newest, active } = value;
  if (newest === null || active === null) throw new Error(`flow ${id} has no version`);
  return {
    flowId: id,
    projectId: projectId ?? '',
    organizationId,
    ...{ name, versions, deletedVersions, activations },
    newestVersion: newest,
    activeVersion: activeVersionOf(active, reactivated),
    createdAt: value.createdAt,
    updatedAt: value.updatedAt,
  };
}

function activeVersionOf(
  active: ActiveVersion,
  reactivated: ReadonlyMap<string, FlowVersionRecord>,
): FlowFigures['activeVersion'] {
  const { id, since } = active;
  if ('number' in active) return { id, number: active.number, tag: active.tag, since };
  const version = reactivated.get(id);
  return version === undefined ? null : { id, number: version.version, tag: version.tag, since };
}
