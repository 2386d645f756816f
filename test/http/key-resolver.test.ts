import assert from 'node:assert/strict';
import { keptOfSecret } from '#domain/api-key/secret.ts';
import { KeyResolver } from '#http/key-resolver.ts';
import { ReadModel } from '#test/support/read-model.ts';
import { recorded } from '#test/support/recorded.ts';
import { ids } from '#test/support/story.ts';
import { apiKeyCreated, apiKeyRevoked, firstSecret } from '#test/support/tenant-events.ts';

const secondSecret = `sy_live_${'S2c'.repeat(14)}d`;

/** The read models as they are while they lag: the key was created, nothing more. */
function lagging(): KeyResolver {
  const usage = { touch: () => undefined, lastUsed: async () => new Map<string, string>() };
  return new KeyResolver(new ReadModel(recorded(`apiKey-${ids.key}`, [apiKeyCreated()])), usage);
}

const rotated = (previousValidUntil: string) => ({
  type: 'ApiKeyRotated',
  data: {
    id: ids.key,
    ...keptOfSecret(secondSecret),
    previousSecretHash: keptOfSecret(firstSecret).secretHash,
    previousValidUntil,
  },
});

describe('key resolver', () => {
  it('tells who holds a key, and of no other text', async () => {
    const keys = lagging();
    assert.equal((await keys.resolve(firstSecret))?.keyId, ids.key);
    assert.equal(await keys.resolve(secondSecret), null);
  });

  it('refuses a key revoked on this node, however far the read models are', async () => {
    const keys = lagging();
    keys.changed(apiKeyRevoked());
    assert.equal(await keys.resolve(firstSecret), null);
  });

  it('refuses a secret replaced on this node once its overlap has ended, however far the read models are', async () => {
    const keys = lagging();
    keys.changed(rotated('2999-01-01T00:00:00.000Z'));
    assert.equal((await keys.resolve(firstSecret))?.keyId, ids.key);
    keys.changed(rotated('2026-01-01T00:00:00.000Z'));
    assert.equal(await keys.resolve(firstSecret), null);
  });
});
