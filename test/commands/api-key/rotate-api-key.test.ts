import { rotateApiKey } from '#commands/api-key/rotate-api-key.ts';
import { hashOfSecret, keptOfSecret } from '#domain/api-key/secret.ts';
import { happened } from '#domain/event.ts';
import { decidedAt, given, secretKey } from '#test/support/given.ts';
import { inputOf } from '#test/support/input-of.ts';
import { keyManagement } from '#test/support/key-management.ts';
import { ids } from '#test/support/story.ts';
import { apiKeyCreated, firstSecret } from '#test/support/tenant-events.ts';

const input = { keyId: ids.key };
const rotated = (previousValidUntil: string, previous = firstSecret) =>
  happened('ApiKeyRotated', {
    id: ids.key,
    ...keptOfSecret(secretKey),
    previousSecretHash: hashOfSecret(previous),
    previousValidUntil,
  });
const later = (seconds: number) => new Date(Date.parse(decidedAt) + seconds * 1000).toISOString();

describe('rotate_api_key', () => {
  it('gives a new secret, the old one ending at once', () => {
    given(apiKeyCreated()).when(rotateApiKey, input).then(rotated(decidedAt));
  });

  it('lets the old one work until the overlap ends', () => {
    given(apiKeyCreated())
      .when(rotateApiKey, { ...input, overlapSeconds: 86_400 })
      .then(rotated(later(86_400)));
  });

  it('replaces the newest secret when rotated again', () => {
    const second = `sy_live_${'S2n'.repeat(14)}d`;
    const before = happened('ApiKeyRotated', {
      id: ids.key,
      ...keptOfSecret(second),
      previousSecretHash: hashOfSecret(firstSecret),
      previousValidUntil: later(-60),
    });
    given(apiKeyCreated(), before)
      .when(rotateApiKey, { ...input, overlapSeconds: 1 })
      .then(rotated(later(1), second));
  });

  keyManagement(rotateApiKey, input);

  describe('input', () => {
    const of = inputOf(rotateApiKey, input);
    of.id('keyId');
    of.optional('overlapSeconds', 0);
    for (const value of [0, 1, 86_400]) of.accepts('overlapSeconds', value);
    for (const value of [-1, 86_401, 0.5, '60', '', null, true, [60]]) of.refuses('overlapSeconds', value);
  });
});
