import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { type CollectionReader, readInTurn } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { statusOf, visibleTarget } from '#domain/instance/instance.ts';
import { InstanceStatus } from '#domain/instance/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { scopeOf } from '#projections/figures/figures-scope.ts';
import {
  type InstanceFiguresDocument,
  type InstanceTotalsDocument,
  instanceFigures,
  type UpgradeCount,
} from '#projections/figures/instance-figures.ts';
import { type TemplateVersionDocument, templateVersions } from '#projections/template-versions.ts';
import { type TemplateDocument, templates } from '#projections/templates.ts';
import { type FiguresOwner, figuresOwner, narrowingReads, ownedBy } from '#queries/shared/figures-owner.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { dayRange, tenantFilters } from './dashboard-input.ts';
import { type DayRange, lastDays, sumOf } from './days.ts';

const counts = t.readonlyArray(t.number);

/** Arrays of figures are by day. */
export const InstancesAnswer = t.type(
  {
    /** Existing instances by state. */
    totals: t.type({ instances: t.number, active: t.number, provisioning: t.number, failed: t.number }),
    /** By template version, newest of each template first. Names are null for keys that may not know of templates. */
    versions: t.readonlyArray(
      t.type({
        templateId: cuid,
        templateVersionId: cuid,
        templateName: nullable(text()),
        number: t.number,
        tag: nullable(text()),
        active: t.number,
        provisioning: t.number,
        failed: t.number,
      }),
    ),
    /** Upgrades that were requested in these days, by their outcome so far. */
    upgrades: t.type({
      from: timestamp,
      until: timestamp,
      /** Each day in UTC, `2026-01-05`, oldest first. */
      days: t.readonlyArray(text()),
      requested: counts,
      succeeded: t.number,
      running: t.number,
      undone: t.number,
      failed: t.number,
      superseded: t.number,
    }),
    /** Instances that need attention: they failed, or their last operation was undone. At most 50, oldest first. */
    attention: t.type({
      total: t.number,
      instances: t.readonlyArray(
        t.type({
          instanceId: cuid,
          organizationId: cuid,
          projectId: cuid,
          name: text(),
          status: InstanceStatus,
          why: enumeration('InstanceAttentionReason', 'failed', 'undone'),
          templateId: cuid,
          templateVersionId: cuid,
          /** The template version of the operation that did not succeed. */
          wantedTemplateVersionId: cuid,
          reason: nullable(text()),
          endedAt: timestamp,
        }),
      ),
    }),
  },
  'DashboardInstances',
);

export type InstancesAnswer = t.TypeOf<typeof InstancesAnswer>;

const defaultDays = 7;
/** Maximum number of versions in an answer: those with the most instances. */
const maxVersions = 200;
const maxShown = 50;

const Input = t.partial({ ...dayRange, ...tenantFilters });

const reads = { ...narrowingReads, figures: instanceFigures, templates, versions: templateVersions };

type Readers = Readonly<Record<keyof typeof reads, CollectionReader>>;

export const getInstancesDashboard = query<t.TypeOf<typeof Input>, Tenant, InstancesAnswer, keyof typeof reads>({
  about: {
    name: 'get_instances_dashboard',
    summary: 'Read the states of instances and their upgrades',
    description:
      'For everything that the key has access to, or for one organization or project: instances by template version and ' +
      'state, the upgrades of the last `days` (default 7, today included), and the instances that need attention.',
    group: 'Dashboard',
    example: {
      output: {
        totals: { instances: 1, active: 1, provisioning: 0, failed: 0 },
        versions: [
          {
            templateId: 'cm3v8k2p90000qzrm4d1x7w5b',
            templateVersionId: 'cm3v8k2p90000qzrm4d1x7w5bk2p4x8q1',
            templateName: 'Dental reception',
            number: 1,
            tag: null,
            active: 1,
            provisioning: 0,
            failed: 0,
          },
        ],
        upgrades: {
          from: '2026-01-05T00:00:00.000Z',
          until: '2026-01-05T09:30:00.000Z',
          days: ['2026-01-05'],
          requested: [0],
          succeeded: 0,
          running: 0,
          undone: 0,
          failed: 0,
          superseded: 0,
        },
        attention: { total: 0, instances: [] },
      },
    },
  },
  http: get('/v1/dashboard/instances'),
  access: { scope: 'dashboard:read', subject: null },
  input: Input,
  output: InstancesAnswer,
  failures: ['project-not-found', 'organization-not-found'],
  reads,
  readsMany: true,
  answer: async ({ input, time, request: { caller } }, { read }) => {
    const owner = await figuresOwner(caller, input, read);
    if (E.isLeft(owner)) return owner;
    const { kind, id } = owner.right;
    const found = await read.figures.get<InstanceTotalsDocument>(scopeOf(kind, id));
    const totals: InstanceTotalsDocument = found?.value ?? noTotals;
    const knowsTemplates = caller.keyType === 'admin' || caller.keyType === 'partner';
    return E.right({
      body: {
        totals: statesOf(totals),
        versions: await versionsOf(totals, knowsTemplates, read),
        upgrades: upgradesOf(totals, lastDays(input.days ?? defaultDays, time)),
        attention: await attentionOf(owner.right, totals, read.figures),
      },
    });
  },
});

const noTotals: InstanceTotalsDocument = { kind: 'totals', attentionTotal: 0, versions: {}, upgrades: {} };

function statesOf({ versions }: InstanceTotalsDocument): InstancesAnswer['totals'] {
  const counts = Object.values(versions);
  const active = sumOf(counts.map((count) => count.active));
  const provisioning = sumOf(counts.map((count) => count.provisioning));
  const failed = sumOf(counts.map((count) => count.failed));
  return { instances: active + provisioning + failed, active, provisioning, failed };
}

/** The newest version of each template first. */
async function versionsOf(
  { versions }: InstanceTotalsDocument,
  knowsTemplates: boolean,
  read: Readers,
): Promise<InstancesAnswer['versions']> {
  const instancesOf = ({ active, provisioning, failed }: (typeof versions)[string]) => active + provisioning + failed;
  const shown = Object.entries(versions)
    .sort(([, one], [, other]) => instancesOf(other) - instancesOf(one))
    .slice(0, maxVersions)
    .sort(([, one], [, other]) =>
      one.templateId === other.templateId ? other.version - one.version : one.templateId < other.templateId ? -1 : 1,
    );
  return Promise.all(
    shown.map(async ([templateVersionId, { templateId, version, active, provisioning, failed }]) => ({
      templateId,
      templateVersionId,
      ...(knowsTemplates ? await namesOf(templateId, templateVersionId, read) : { templateName: null, tag: null }),
      number: version,
      ...{ active, provisioning, failed },
    })),
  );
}

async function namesOf(templateId: string, templateVersionId: string, read: Readers) {
  const [template, version] = await Promise.all([
    read.templates.get<TemplateDocument>(templateId),
    read.versions.get<TemplateVersionDocument>(templateVersionId),
  ]);
  return { templateName: template?.value.record.name ?? null, tag: version?.value.record.tag ?? null };
}

function upgradesOf(
  { upgrades }: InstanceTotalsDocument,
  { from, until, days }: DayRange,
): InstancesAnswer['upgrades'] {
  const of = (member: keyof UpgradeCount) => sumOf(days.map((day) => upgrades[day]?.[member] ?? 0));
  const ended = {
    succeeded: of('succeeded'),
    undone: of('undone'),
    failed: of('failed'),
    superseded: of('superseded'),
  };
  const requested = days.map((day) => upgrades[day]?.requested ?? 0);
  return { from, until, days, requested, running: sumOf(requested) - sumOf(Object.values(ended)), ...ended };
}

/** If all of them are shown, they are also the total, because the stored total may be of another moment. */
async function attentionOf(
  owner: FiguresOwner,
  { attentionTotal }: InstanceTotalsDocument,
  collection: CollectionReader,
): Promise<InstancesAnswer['attention']> {
  if (attentionTotal === 0) return { total: 0, instances: [] };
  // By id: an instance may move from the first list to the second between the two reads.
  const found = new Map<string, InstanceFiguresDocument>();
  let hasMore = false;
  for (const attention of ['failed', 'undone']) {
    const request = { limit: maxShown - found.size, maxBytes: 4 * 1024 * 1024 };
    hasMore ||= request.limit === 0;
    if (hasMore) break;
    const page = await readInTurn<InstanceFiguresDocument>(collection, { attention, ...ownedBy(owner) }, request);
    for (const { id, value } of page.documents) found.set(id, value);
    hasMore = page.next !== null;
  }
  const total = hasMore ? Math.max(attentionTotal, found.size) : found.size;
  return { total, instances: [...found.values()].map(attentionItem) };
}

function attentionItem({
  organizationId,
  projectId,
  attention,
  state,
}: InstanceFiguresDocument): InstancesAnswer['attention']['instances'][number] {
  return {
    instanceId: state.id,
    organizationId,
    projectId: projectId ?? '',
    name: state.name,
    status: statusOf(state),
    why: attention ?? 'failed',
    templateId: state.templateId,
    templateVersionId: visibleTarget(state).templateVersionId,
    wantedTemplateVersionId: state.lastOperation?.templateVersionId ?? state.target.templateVersionId,
    reason: state.lastOperation?.reason ?? null,
    endedAt: state.lastOperation?.endedAt ?? state.updatedAt,
  };
}
