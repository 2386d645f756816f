/** What is shown of `GET /v1/dashboard/activity`. */
export interface Activity {
  readonly from: string;
  readonly days: ReadonlyArray<string>;
  readonly events: ReadonlyArray<number>;
  readonly total: number;
  readonly kinds: ReadonlyArray<{
    readonly kind: string;
    readonly events: ReadonlyArray<number>;
    readonly total: number;
  }>;
  readonly hours: { readonly from: string; readonly events: ReadonlyArray<number> };
  readonly counts: Readonly<Record<string, number | null>>;
}

/** What is shown of `GET /v1/dashboard/instances`. */
export interface InstanceFigures {
  readonly totals: {
    readonly instances: number;
    readonly active: number;
    readonly provisioning: number;
    readonly failed: number;
  };
  readonly versions: ReadonlyArray<{
    readonly templateId: string;
    readonly templateVersionId: string;
    readonly templateName: string | null;
    readonly number: number;
    readonly active: number;
    readonly provisioning: number;
    readonly failed: number;
  }>;
  readonly upgrades: {
    readonly requested: ReadonlyArray<number>;
    readonly succeeded: number;
    readonly running: number;
    readonly undone: number;
    readonly failed: number;
    readonly superseded: number;
  };
  readonly attention: {
    readonly total: number;
    readonly instances: ReadonlyArray<{
      readonly instanceId: string;
      readonly organizationId: string;
      readonly name: string;
      readonly why: 'failed' | 'undone';
      readonly reason: string | null;
      readonly endedAt: string;
    }>;
  };
}

export interface ActivityGroup {
  readonly title: string;
  readonly total: number;
  readonly events: ReadonlyArray<number>;
}

const groups: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ['Flows and versions', ['flow', 'flow-version']],
  ['Templates', ['template', 'template-version']],
  ['Instances', ['instance']],
  ['Phone numbers', ['phone-number', 'agent-profile']],
  ['Keys and customers', ['key', 'customer', 'organization', 'project']],
];

/** Counts the activity by groups of kinds. Kinds that are in no group are left out. */
export function activityGroups({ kinds, days }: Activity): ReadonlyArray<ActivityGroup> {
  return groups.map(([title, wanted]) => {
    const found = kinds.filter(({ kind }) => wanted.includes(kind));
    const events = days.map((_, day) => found.reduce((sum, each) => sum + (each.events[day] ?? 0), 0));
    return { title, total: found.reduce((sum, { total }) => sum + total, 0), events };
  });
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface EventsCurve {
  readonly unit: 'hour' | 'day';
  /** The values of each hour or day, the current one included. */
  readonly values: ReadonlyArray<number>;
  /** The beginnings of the hours or days, in ms. */
  readonly times: ReadonlyArray<number>;
}

/** The events of the last 24 hours by hour, or by day for a longer time. */
export function eventsCurve({ from, events, hours }: Activity, rangeMs: number): EventsCurve {
  return rangeMs <= dayMs
    ? { unit: 'hour', ...newest(hours.events, Date.parse(hours.from), hourMs, 24) }
    : { unit: 'day', ...newest(events, Date.parse(from), dayMs, Math.round(rangeMs / dayMs)) };
}

function newest(all: ReadonlyArray<number>, from: number, stepMs: number, count: number) {
  const times = all.map((_, index) => from + index * stepMs);
  return { values: all.slice(-count), times: times.slice(-count) };
}
