import assert from 'node:assert/strict';
import { type KnownName, namesInEntries } from '#dashboard/page/app/data/names-in-entries.ts';
import type { ResourceKind } from '#domain/history/record.ts';
import type { Json } from '#shared/json/json.ts';

const entry = (position: number, kind: ResourceKind, path: string, value: Json) => ({
  position,
  resource: { kind, id: 'one' },
  changes: [{ op: 'replace' as const, path, value }],
});
const one = (kind: string, name: string | null, isDeleted = false): KnownName => ({ kind, id: 'one', name, isDeleted });

describe('namesInEntries', () => {
  const created = entry(1, 'flow', '', { id: 'one', name: 'First' });
  const renamed = entry(2, 'flow', '/name', 'Second');
  const described = entry(3, 'flow', '/description', 'Text');
  const deleted = entry(4, 'flow', '', null);

  it('returns the last name for entries in any order', () => {
    assert.deepEqual(namesInEntries([created]), [one('flow', 'First')]);
    assert.deepEqual(namesInEntries([described, renamed, created]), [one('flow', 'Second')]);
  });

  it('returns the last name of a deleted resource, and none when no entry has a name', () => {
    assert.deepEqual(namesInEntries([deleted, created]), [one('flow', 'First', true)]);
    assert.deepEqual(namesInEntries([deleted]), [one('flow', null, true)]);
    assert.deepEqual(namesInEntries([described]), [one('flow', null)]);
  });

  it('calls a phone number by its number', () => {
    const number = entry(1, 'phone-number', '', { name: 'Desk', number: '+41 44 000 00 00' });
    assert.deepEqual(namesInEntries([number, entry(2, 'phone-number', '/name', 'Front desk')]), [
      one('phone-number', '+41 44 000 00 00'),
    ]);
  });

  it('finds no name in entries without changes', () => {
    assert.deepEqual(namesInEntries([{ ...created, changes: null }]), [one('flow', null)]);
  });
});
