import assert from 'node:assert/strict';
import { loadAccessibleVersion, loadVersion } from '#commands/instance/shared/wanted-version.ts';
import {
  templateCreated,
  templateVersionCreated,
  templateVersionOf,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenStreams } from '#test/support/harness/related-streams.ts';

const owner = { ...tenants.project, projectId: null };
const streams = {
  [`template-${ids.template}`]: {
    events: [
      templateCreated(),
      templateVersionCreated(1),
      templateVersionCreated(2, { tag: 'summer', fieldsSchema: [] }),
      templateVersionPublished(2),
    ],
    tenant: owner,
  },
};
const second = templateVersionOf(ids.template, 2);

describe('loadVersion and loadAccessibleVersion', () => {
  it('returns a version with its template, number, tag and payload', async () => {
    const wanted = await loadVersion(second, givenStreams(streams));
    assert.equal(wanted?.template.id, ids.template);
    const { id, version, tag, payload, publishedAt } = wanted.version;
    assert.deepEqual([id, version, tag, publishedAt !== null], [second, 2, 'summer', true]);
    assert.deepEqual(payload.flows?.[0]?.flowSchema, { say: 'hello 2' });
  });

  it('returns null when the template or its version does not exist', async () => {
    const loads = givenStreams(streams);
    assert.equal(await loadVersion(templateVersionOf(ids.template, 3), loads), null);
    assert.equal(await loadVersion(templateVersionOf('cnothing0was0ever0here00', 1), loads), null);
  });

  it('returns a version only to a key that can access the template', async () => {
    const loads = givenStreams(streams);
    const found = async (caller: Parameters<typeof loadAccessibleVersion>[2]) =>
      (await loadAccessibleVersion(second, loads, caller))?.version.id ?? null;
    assert.equal(await found(callerOf('partner')), second);
    const { stranger } = tenants;
    for (const caller of [
      callerOf('partner', { ...stranger, partnerId: stranger.organizationId }),
      callerOf('organization', stranger),
      callerOf('project', stranger),
    ]) {
      assert.equal(await found(caller), null, caller.keyType);
    }
  });

  it('returns null for every key when the template does not exist', async () => {
    const nothing = givenStreams({});
    assert.equal(await loadAccessibleVersion(second, nothing, callerOf('admin')), null);
    assert.deepEqual(nothing.loaded, [`template-${ids.template}`]);
  });
});
