import assert from 'node:assert/strict';
import { addressOf, addressOfResource, readPlace, viewNames } from '#dashboard/page/app/routing/router.ts';
import { pagePaths } from '#dashboard/page-paths.ts';

describe('router of the dashboard', () => {
  it('reads back each address that it makes', () => {
    for (const view of viewNames) {
      const place = readPlace(addressOf(view));
      assert.deepEqual([place?.view, place?.id], [view, null]);
    }
    const place = readPlace('/dashboard/flows/c123', '?version=c1234');
    assert.deepEqual([place?.view, place?.id, place?.search.get('version')], ['flows', 'c123', 'c1234']);
  });

  it('refuses every other address', () => {
    for (const path of ['/docs', '/dashboard/nothing', '/dashboard/overview/x', '/dashboard/flows/a/b', '/']) {
      assert.equal(readPlace(path), null, path);
    }
  });

  it('has an address for each view that the server answers with the page', () => {
    for (const view of viewNames) assert.ok(pagePaths.includes(addressOf(view)), view);
  });

  it('links each resource to the view that shows it, and a version to its flow', () => {
    const version = 'c4bczf53ev4zj36ye7fyaneq81b5lsoj';
    assert.equal(
      addressOfResource('flow-version', version),
      `/dashboard/flows/${version.slice(0, -8)}?version=${version}`,
    );
    assert.equal(addressOfResource('instance', 'cabc'), '/dashboard/templates?instance=cabc');
    assert.equal(addressOfResource('store', 'cabc'), '/dashboard/stores/cabc');
    assert.equal(addressOfResource('digest', 'cabc'), null);
  });
});
