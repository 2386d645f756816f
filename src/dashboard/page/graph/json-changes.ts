import { diff } from 'fast-myers-diff';
import { isRecord } from '#dashboard/page/graph/flow-graph.ts';
import {
  type Change,
  code,
  inserted,
  plain,
  removed,
  type SentencePart,
  shortened,
  wordChanges,
} from '#dashboard/page/text/parts-of-text.ts';

const maxChanges = 200;

/** Describes the change of each member in a sentence. */
export function jsonChanges(before: unknown, after: unknown): ReadonlyArray<Change> {
  return changesAt('', before, after).slice(0, maxChanges);
}

function changesAt(path: string, before: unknown, after: unknown): ReadonlyArray<Change> {
  if (isSame(before, after)) return [];
  if (isRecord(before) && isRecord(after)) return membersChanged(path, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return itemsChanged(path, before, after);
  return [{ op: 'mod', parts: [name(path), plain(': '), ...valueChanged(before, after)] }];
}

function membersChanged(
  path: string,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): ReadonlyArray<Change> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((member) => {
    const inner = path === '' ? member : `${path}.${member}`;
    if (!Object.hasOwn(before, member))
      return [{ op: 'add' as const, parts: [name(inner), plain(': '), plain(valueText(after[member]))] }];
    if (!Object.hasOwn(after, member))
      return [{ op: 'del' as const, parts: [name(inner), plain(', which was '), plain(valueText(before[member]))] }];
    return changesAt(inner, before[member], after[member]);
  });
}

/**
 * Describes the removed and added items of plain lists, and for lists of objects the differences of items at the same
 * place.
 */
function itemsChanged(
  path: string,
  before: ReadonlyArray<unknown>,
  after: ReadonlyArray<unknown>,
): ReadonlyArray<Change> {
  const one = before.map((item) => JSON.stringify(item));
  const other = after.map((item) => JSON.stringify(item));
  if (before.length === after.length && before.every(isRecord) && after.every(isRecord)) {
    return before.flatMap((item, index) => changesAt(`${path}[${index}]`, item, after[index]));
  }
  return [...diff(one, other)].flatMap(([start, end, from, to]) => [
    ...before
      .slice(start, end)
      .map((item) => ({ op: 'del' as const, parts: [plain(`${valueText(item)} from `), name(path)] })),
    ...after
      .slice(from, to)
      .map((item) => ({ op: 'add' as const, parts: [plain(`${valueText(item)} to `), name(path)] })),
  ]);
}

/** Describes the changed words of a text, or the whole value. */
export function valueChanged(before: unknown, after: unknown): ReadonlyArray<SentencePart> {
  if (typeof before === 'string' && typeof after === 'string')
    return [plain('“'), ...wordChanges(before, after), plain('”')];
  return [inserted(valueText(after)), plain(' instead of '), removed(valueText(before))];
}

/** Shows a value in a sentence. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? `“${shortened(value)}”` : shortened(JSON.stringify(value) ?? 'nothing');
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function name(path: string): SentencePart {
  return code(path === '' ? 'the whole' : path);
}
