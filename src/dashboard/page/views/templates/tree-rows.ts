import type { Instance, Template, TemplateVersion } from '#dashboard/page/api/records.ts';

export type TreeRow =
  | { readonly kind: 'template'; readonly key: string; readonly template: Template; readonly isOpen: boolean }
  | {
      readonly kind: 'version';
      readonly key: string;
      readonly parent: string;
      readonly version: TemplateVersion;
      readonly instances: ReadonlyArray<Instance>;
      readonly newestPublished: number;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: 'instance';
      readonly key: string;
      readonly parent: string;
      readonly instance: Instance;
      readonly version: TemplateVersion;
    }
  | {
      readonly kind: 'more';
      readonly key: string;
      readonly parent: string;
      readonly instances: ReadonlyArray<Instance>;
    };

export interface TreeContent {
  readonly templates: ReadonlyArray<Template>;
  /** The versions of each template, newest first. */
  readonly versions: ReadonlyMap<string, ReadonlyArray<TemplateVersion>>;
  readonly instances: ReadonlyArray<Instance>;
  /** The keys of folded rows. All others are open. */
  readonly folded: ReadonlySet<string>;
  /** The keys of versions whose instances are all shown. */
  readonly whole: ReadonlySet<string>;
}

/** Number of instances of a version that are shown before the user opens all. */
export const shownInstances = 6;

/** The rows from top to bottom. */
export function treeRows({ templates, versions, instances, folded, whole }: TreeContent): ReadonlyArray<TreeRow> {
  return templates.flatMap((template): ReadonlyArray<TreeRow> => {
    const known = versions.get(template.id) ?? [];
    const isOpen = !folded.has(template.id);
    const row: TreeRow = { kind: 'template', key: template.id, template, isOpen };
    if (!isOpen) return [row];
    const newestPublished = newestPublishedOf(known)?.version ?? 0;
    return [row, ...known.flatMap((version) => versionRows(version, { instances, newestPublished, folded, whole }))];
  });
}

function versionRows(
  version: TemplateVersion,
  context: Pick<TreeContent, 'instances' | 'folded' | 'whole'> & { readonly newestPublished: number },
): ReadonlyArray<TreeRow> {
  const own = sortedByNeed(context.instances.filter(({ templateVersionId }) => templateVersionId === version.id));
  const { id } = version;
  const isOpen = own.length > 0 && !context.folded.has(id);
  const row: TreeRow = {
    kind: 'version',
    key: id,
    parent: version.templateId,
    version,
    instances: own,
    newestPublished: context.newestPublished,
    isOpen,
  };
  if (!isOpen) return [row];
  const shown = context.whole.has(id) ? own : own.slice(0, shownInstances);
  const left = own.slice(shown.length);
  const rows = shown.map(
    (instance): TreeRow => ({ kind: 'instance', key: instance.id, parent: id, instance, version }),
  );
  return [
    row,
    ...rows,
    ...(left.length === 0 ? [] : [{ kind: 'more' as const, key: `more ${id}`, parent: id, instances: left }]),
  ];
}

/** Sorts failed ones first, then running ones, then those with an undone operation. */
function sortedByNeed(instances: ReadonlyArray<Instance>): ReadonlyArray<Instance> {
  const need = ({ status, lastOperation }: Instance) => {
    if (status === 'failed') return 0;
    if (status === 'provisioning') return 1;
    return lastOperation?.outcome === 'undone' ? 2 : 3;
  };
  return [...instances].sort((one, other) => need(one) - need(other));
}

/** @param versions newest first */
export function newestPublishedOf(versions: ReadonlyArray<TemplateVersion>): TemplateVersion | null {
  return versions.find(({ publishedAt }) => publishedAt !== null) ?? null;
}

/** The instances by version, newest version first, without versions that have no instance. */
export function spreadOf(
  versions: ReadonlyArray<TemplateVersion>,
  instances: ReadonlyArray<Instance>,
): ReadonlyArray<{ readonly version: TemplateVersion; readonly count: number }> {
  return versions
    .map((version) => ({
      version,
      count: instances.filter(({ templateVersionId }) => templateVersionId === version.id).length,
    }))
    .filter(({ count }) => count > 0);
}

/** Describes an instance in a few words. @param numberOf a version's number; null if it is not known */
export function instanceNote(instance: Instance, numberOf: (versionId: string) => number | null): string {
  const { operation, lastOperation, phoneNumberRequirements } = instance;
  const named = (id: string) => numberOf(id) ?? 'another version';
  if (operation !== null) {
    const { kind, steps, stepsDone, templateVersionId } = operation;
    const what =
      operation.undoneFor === null
        ? `${kind === 'upgrade' ? `to version ${named(templateVersionId)}` : kind}`
        : 'being undone';
    return `${what}, ${stepsDone} of ${steps.length}`;
  }
  if (lastOperation?.outcome === 'undone')
    return `${lastOperation.kind} to ${named(lastOperation.templateVersionId)} undone`;
  if (instance.status === 'failed') return `${lastOperation?.kind ?? 'provision'} failed`;
  const unmet = phoneNumberRequirements.filter(({ phoneNumberId }) => phoneNumberId === null).length;
  return unmet === 0 ? '' : `${unmet} ${unmet === 1 ? 'number' : 'numbers'} missing`;
}

export type TreeMove = 'up' | 'down' | 'first' | 'last' | 'in' | 'out';

/** Moves in a WAI-ARIA treegrid: the focus moves to a row, or a row is folded or opened. */
export function moveInTree(
  rows: ReadonlyArray<TreeRow>,
  key: string,
  move: TreeMove,
): { readonly focus: string; readonly toggle: string | null } {
  const at = rows.findIndex((row) => row.key === key);
  const row = rows[at];
  const to = (index: number) => ({
    focus: rows[Math.max(0, Math.min(rows.length - 1, index))]?.key ?? key,
    toggle: null,
  });
  if (row === undefined) return to(0);
  const canFold = row.kind === 'template' || (row.kind === 'version' && row.instances.length > 0);
  const isOpen = canFold && row.isOpen;
  switch (move) {
    case 'up':
      return to(at - 1);
    case 'down':
      return to(at + 1);
    case 'first':
      return to(0);
    case 'last':
      return to(rows.length - 1);
    case 'in':
      if (canFold && !isOpen) return { focus: key, toggle: key };
      return canFold ? to(at + 1) : { focus: key, toggle: null };
    case 'out':
      if (isOpen) return { focus: key, toggle: key };
      return { focus: row.kind === 'template' ? key : row.parent, toggle: null };
  }
}
