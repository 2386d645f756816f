import * as t from 'io-ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import type { Rollup } from '#projections/usage/usage-group.ts';
import type { FiguresOwner } from '#queries/shared/figures-owner.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import type { UsageRow } from './usage-answer.ts';

const groupings = ['hour', 'day', 'key', 'project', 'model', 'target', 'endpoint'] as const;

/** A member by which rows are separate. */
export type Grouping = (typeof groupings)[number];

const fault = `must name some of ${groupings.join(', ')}, with commas between them; not both hour and day`;

function read(value: unknown): ReadonlyArray<Grouping> | null {
  if (typeof value !== 'string') return null;
  const names = value.split(',');
  const known = groupings.filter((name) => names.includes(name));
  return known.length === names.length && !(names.includes('hour') && names.includes('day')) ? known : null;
}

/** Names with commas between them. The decoded names are in a fixed order. */
export const GroupBy = withJsonSchema(
  new t.Type<ReadonlyArray<Grouping>, string, unknown>(
    'groupBy',
    (value): value is ReadonlyArray<Grouping> => Array.isArray(value),
    (value, context) => {
      const names = read(value);
      return names === null ? t.failure(value, context, fault) : t.success(names);
    },
    (names) => names.join(','),
  ),
  {
    type: 'string',
    pattern: `^(${groupings.join('|')})(,(${groupings.join('|')}))*$`,
    description: `Some of ${groupings.join(', ')}, with commas between them; not both hour and day. Default \`day\``,
    examples: ['day,model'],
  },
);

/** The coarsest sums from which the rows can be made. */
export function rollupFor(groupBy: ReadonlyArray<Grouping>, owner: FiguresOwner): Rollup {
  const has = (...names: ReadonlyArray<Grouping>) => names.every((name) => groupBy.includes(name));
  if (has('endpoint')) return 'row';
  if (has('key')) return has('model') || has('target') ? 'row' : 'key';
  if (has('target')) return owner.kind === 'all' && !has('project') ? ofTargets(has('model')) : 'row';
  if (has('project')) return has('model') ? 'project/model' : 'project';
  return has('model') ? `${owner.kind}/model` : owner.kind;
}

const ofTargets = (withModels: boolean) => (withModels ? 'all/model/target' : 'all/target');

/** The members of a row that name its group. */
export type UsageRowGroup = Pick<UsageRow, Grouping>;

/** The group of a document's row. */
export function rowGroupOf(groupBy: ReadonlyArray<Grouping>, document: UsageDocument): UsageRowGroup {
  const { period, keyId, projectId, model, target, endpoint } = document;
  const members: Readonly<Record<Grouping, string | null>> = {
    hour: period,
    day: period.slice(0, 10),
    key: keyId,
    project: projectId,
    model,
    target,
    endpoint: endpoint ?? null,
  };
  return Object.fromEntries(groupBy.map((name) => [name, members[name]])) as UsageRowGroup;
}
