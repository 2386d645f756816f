import assert from 'node:assert/strict';
import type { Instance, Template, TemplateVersion } from '#dashboard/page/api/records.ts';
import { moveInTree, spreadOf, treeRows } from '#dashboard/page/views/templates/tree-rows.ts';

const time = '2026-11-20T14:00:00.000Z';
const template: Template = {
  id: 't',
  headlessIntegratorId: 'o',
  name: 'Reception',
  description: null,
  status: 'published',
  createdAt: time,
  updatedAt: time,
};
const versionOf = (number: number, publishedAt: string | null = time): TemplateVersion => ({
  id: `t${number}`,
  templateId: 't',
  version: number,
  tag: null,
  payload: { flows: [] },
  fieldsSchema: [],
  publishedAt,
  createdAt: time,
  updatedAt: time,
});
const instanceOf = (id: string, version: number, status: Instance['status'] = 'active'): Instance => ({
  id,
  templateId: 't',
  templateVersionId: `t${version}`,
  organizationId: 'o',
  projectId: 'p',
  name: id,
  fieldValues: {},
  status,
  resources: { flows: [], agentProfileId: null, stores: [] },
  phoneNumberRequirements: [],
  operation: null,
  lastOperation: null,
  createdAt: time,
  updatedAt: time,
});
const versions = new Map([['t', [versionOf(3, null), versionOf(2), versionOf(1)]]]);
const none: ReadonlySet<string> = new Set();
const rowsOf = (instances: ReadonlyArray<Instance>, folded = none, whole = none) =>
  treeRows({ templates: [template], versions, instances, folded, whole });
const keysOf = (...given: Parameters<typeof rowsOf>) => rowsOf(...given).map(({ key }) => key);

describe('treeRows', () => {
  it('shows templates, versions from the newest on, and instances with those that need attention first', () => {
    const instances = [instanceOf('a', 2), instanceOf('b', 1), instanceOf('c', 2, 'failed')];
    assert.deepEqual(keysOf(instances), ['t', 't3', 't2', 'c', 'a', 't1', 'b']);
  });

  it('hides the contents of a folded row', () => {
    const instances = [instanceOf('a', 2)];
    assert.deepEqual(keysOf(instances, new Set(['t'])), ['t']);
    assert.deepEqual(keysOf(instances, new Set(['t2'])), ['t', 't3', 't2', 't1']);
  });

  it('shows six instances of a version, and the others on request', () => {
    const instances = Array.from({ length: 9 }, (_, index) => instanceOf(`i${index}`, 2));
    assert.equal(keysOf(instances).filter((key) => key.startsWith('i')).length, 6);
    assert.ok(keysOf(instances).includes('more t2'));
    assert.equal(keysOf(instances, none, new Set(['t2'])).filter((key) => key.startsWith('i')).length, 9);
  });
});

describe('moveInTree', () => {
  const rows = rowsOf([instanceOf('a', 2)]);

  it('moves up and down, but not past an end', () => {
    assert.equal(moveInTree(rows, 't', 'down').focus, 't3');
    assert.equal(moveInTree(rows, 't', 'up').focus, 't');
    assert.equal(moveInTree(rows, 't', 'last').focus, 't1');
    assert.equal(moveInTree(rows, 't1', 'first').focus, 't');
  });

  it('folds an open row with left, then goes to its parent, and opens a folded one with right', () => {
    assert.deepEqual(moveInTree(rows, 't2', 'out'), { focus: 't2', toggle: 't2' });
    assert.deepEqual(moveInTree(rows, 'a', 'out'), { focus: 't2', toggle: null });
    const folded = rowsOf([instanceOf('a', 2)], new Set(['t2']));
    assert.deepEqual(moveInTree(folded, 't2', 'in'), { focus: 't2', toggle: 't2' });
    assert.deepEqual(moveInTree(rows, 't2', 'in'), { focus: 'a', toggle: null });
  });
});

describe('spreadOf', () => {
  it('counts the instances of each version that has any', () => {
    const spread = spreadOf(versions.get('t') ?? [], [instanceOf('a', 2), instanceOf('b', 2), instanceOf('c', 1)]);
    assert.deepEqual(
      spread.map(({ version, count }) => [version.version, count]),
      [
        [2, 2],
        [1, 1],
      ],
    );
  });
});
