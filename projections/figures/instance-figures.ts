import type { InstanceEvents } from '#domain/instance/events.ts';
import { type InstanceState, instance, statusOf, visibleTarget } from '#domain/instance/instance.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type ProjectedEventOf, projection } from '#projection-engine/projection.ts';
import { tenantOf } from '../document.ts';
import { scopesOf } from './figures-scope.ts';

type State = NonNullable<InstanceState>;
type Status = ReturnType<typeof statusOf>;

/** How an instance counts in figures. */
interface Standing {
  readonly templateId: string;
  readonly templateVersionId: string;
  readonly version: number;
  readonly status: Status;
  /** Null if it needs no attention. */
  readonly attention: 'failed' | 'undone' | null;
}

/** An instance, including one that is being deleted. */
export interface InstanceFiguresDocument extends Tenant {
  readonly kind: 'instance';
  readonly attention: Standing['attention'];
  readonly state: State;
  /** The state before the last event. Figures count the difference. */
  readonly before: { readonly position: number; readonly standing: Standing | null; readonly upgrade: Upgrade | null };
}

export interface VersionCount {
  readonly templateId: string;
  readonly version: number;
  readonly active: number;
  readonly provisioning: number;
  readonly failed: number;
}

/** The upgrades that were requested on a day. */
export interface UpgradeCount {
  readonly requested: number;
  readonly succeeded: number;
  readonly undone: number;
  readonly failed: number;
  readonly superseded: number;
}

export interface InstanceTotalsDocument {
  readonly kind: 'totals';
  readonly attentionTotal: number;
  /** The instances by the id of the template version. */
  readonly versions: Readonly<Record<string, VersionCount>>;
  /** The upgrades by the day of their request, for the last 90 days. */
  readonly upgrades: Readonly<Record<string, UpgradeCount>>;
}

type FiguresDocument = InstanceFiguresDocument | InstanceTotalsDocument;

/** An upgrade that is running or has just ended. */
interface Upgrade {
  readonly number: number;
  readonly day: string;
  readonly outcome: keyof Omit<UpgradeCount, 'requested'> | null;
}

const keptDays = 92;
const dayMs = 24 * 60 * 60 * 1_000;

/** Instances by template version and state, upgrades by outcome, and the instances that need attention. */
export const instanceFigures = projection<
  FiguresDocument & Partial<Tenant> & { readonly attention?: unknown },
  InstanceEvents
>({
  name: 'instance-figures',
  version: 1,
  keys: ({ data, metadata }) => [data.id, ...scopesOf(metadata)],
  on: {
    InstanceCreated: take,
    InstanceUpgradeRequested: take,
    InstanceRetryRequested: take,
    InstanceDeleted: take,
    InstanceProgressed: take,
    InstanceAttemptFailed: take,
    InstanceOperationFailed: take,
    InstanceOperationCommitted: take,
    InstanceOperationEnded: take,
    InstancePhoneNumberSet: take,
  },
  // An instance knows what it was before its last event only. A replay computes older changes of the totals from the
  // instance as it was, so it must not be stored before they are.
  isWrittenFirst: ({ kind }) => kind === 'totals',
  indexes: [['attention'], ['organizationId', 'attention'], ['partnerId', 'attention'], ['projectId', 'attention']],
});

function take(
  document: FiguresDocument | null,
  event: ProjectedEventOf<InstanceEvents>,
  key: string,
  documentBefore: (key: string) => FiguresDocument | null,
): FiguresDocument | null {
  const known = key === event.data.id ? document : documentBefore(event.data.id);
  const before = known?.kind === 'instance' ? known : null;
  // An interrupted commit is being completed: the instance includes this event already, and says what it was before.
  const isAfter = before?.before.position === event.position;
  const after = isAfter ? before : afterEvent(before, event);
  if (key === event.data.id) return after;
  const totals = document?.kind === 'totals' ? document : nothing;
  return counted(totals, after, event.metadata.time);
}

function afterEvent(
  before: InstanceFiguresDocument | null,
  event: ProjectedEventOf<InstanceEvents>,
): InstanceFiguresDocument | null {
  const state = instance.evolve(before?.state ?? null, event);
  if (state === null) return null;
  const { position } = event;
  const was = before === null ? null : { standing: standingOf(before.state), upgrade: upgradeOf(before.state) };
  return {
    kind: 'instance',
    ...tenantOf(event.metadata),
    attention: standingOf(state)?.attention ?? null,
    state,
    before: { position, standing: was?.standing ?? null, upgrade: was?.upgrade ?? null },
  };
}

/** Null for a deleted instance. */
function standingOf(state: State): Standing | null {
  if (state.deleted) return null;
  const status = statusOf(state);
  const { templateVersionId, templateVersion } = visibleTarget(state);
  const isUndone = status === 'active' && state.lastOperation?.outcome === 'undone';
  const attention = status === 'failed' ? 'failed' : isUndone ? 'undone' : null;
  return { templateId: state.templateId, templateVersionId, version: templateVersion, status, attention };
}

function upgradeOf({ operation, lastOperation }: State): Upgrade | null {
  if (operation?.kind === 'upgrade')
    return { number: operation.number, day: operation.startedAt.slice(0, 10), outcome: null };
  if (operation !== null || lastOperation?.kind !== 'upgrade') return null;
  return { number: lastOperation.number, day: lastOperation.startedAt.slice(0, 10), outcome: lastOperation.outcome };
}

const nothing: InstanceTotalsDocument = { kind: 'totals', attentionTotal: 0, versions: {}, upgrades: {} };

/** Returns the same document if nothing changes. */
function counted(
  totals: InstanceTotalsDocument,
  instanceAfter: InstanceFiguresDocument | null,
  time: string,
): InstanceTotalsDocument {
  if (instanceAfter === null) return totals;
  const { state, before } = instanceAfter;
  const standing = standingOf(state);
  const upgrade = upgradeOf(state);
  const isSame = JSON.stringify([standing, upgrade]) === JSON.stringify([before.standing, before.upgrade]);
  if (isSame) return totals;
  const versions = addStanding(addStanding(totals.versions, before.standing, -1), standing, 1);
  const attentionTotal =
    totals.attentionTotal + Number(standing?.attention != null) - Number(before.standing?.attention != null);
  return { ...totals, attentionTotal, versions, upgrades: addUpgrade(totals.upgrades, before.upgrade, upgrade, time) };
}

function addStanding(
  versions: InstanceTotalsDocument['versions'],
  standing: Standing | null,
  sign: 1 | -1,
): InstanceTotalsDocument['versions'] {
  if (standing === null) return versions;
  const { templateId, templateVersionId, version, status } = standing;
  const known = versions[templateVersionId] ?? { templateId, version, active: 0, provisioning: 0, failed: 0 };
  const count = { ...known, [status]: known[status] + sign };
  const { [templateVersionId]: _, ...others } = versions;
  return count.active + count.provisioning + count.failed === 0 ? others : { ...others, [templateVersionId]: count };
}

function addUpgrade(
  upgrades: InstanceTotalsDocument['upgrades'],
  before: Upgrade | null,
  after: Upgrade | null,
  time: string,
): InstanceTotalsDocument['upgrades'] {
  const isNew = after !== null && after.number !== before?.number;
  const ended = { ...upgrades };
  if (before !== null && before.outcome === null && after?.number !== before.number)
    add(ended, before.day, { superseded: 1 });
  if (after !== null && isNew) add(ended, after.day, { requested: 1 });
  if (after !== null && after.outcome !== null && (isNew || before?.outcome !== after.outcome))
    add(ended, after.day, { [after.outcome]: 1 });
  return kept(ended, time);
}

function add(upgrades: Record<string, UpgradeCount>, day: string, added: Partial<UpgradeCount>): void {
  const known = upgrades[day] ?? { requested: 0, succeeded: 0, undone: 0, failed: 0, superseded: 0 };
  upgrades[day] = {
    requested: known.requested + (added.requested ?? 0),
    succeeded: known.succeeded + (added.succeeded ?? 0),
    undone: known.undone + (added.undone ?? 0),
    failed: known.failed + (added.failed ?? 0),
    superseded: known.superseded + (added.superseded ?? 0),
  };
}

/** Removes days that are not shown any more. */
function kept(upgrades: Readonly<Record<string, UpgradeCount>>, time: string): InstanceTotalsDocument['upgrades'] {
  const oldest = new Date(Date.parse(time) - keptDays * dayMs).toISOString().slice(0, 10);
  return Object.fromEntries(Object.entries(upgrades).filter(([day]) => day >= oldest));
}
