import assert from 'node:assert/strict';
import { localOperator } from '#app/local-app.ts';
import { rotateApiKey } from '#commands/api-key/rotate-api-key.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { hashKey } from '#domain/api-key/secret.ts';
import { apiKeyCreated, apiKeyRotated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { decidedAt, givenHistory, secretKey } from '#test/support/harness/command-harness.ts';
import { stateOf, timeOf } from '#test/support/harness/recorded-events.ts';
import { describeKeyManagement } from '#test/support/inputs/key-management.ts';

const input = { keyId: ids.key };
const rotated = (previousValidUntil: string, change: Partial<ApiKeyEvents['ApiKeyRotated']> = {}) =>
  apiKeyRotated(secretKey, { previousValidUntil, rotatedByKeyId: callerOf('admin').keyId, ...change });
const second = `sy_live_${'S2n'.repeat(14)}d`;
const later = (seconds: number) => new Date(Date.parse(decidedAt) + seconds * 1000).toISOString();

describe('rotate_api_key', () => {
  it('gives a key a new secret and ends the old one immediately by default', () => {
    givenHistory(apiKeyCreated()).when(rotateApiKey, input).then(rotated(decidedAt));
  });

  it('keeps the old secret valid until the overlap ends', () => {
    givenHistory(apiKeyCreated())
      .when(rotateApiKey, { ...input, overlapSeconds: 86_400 })
      .then(rotated(later(86_400)));
  });

  it('replaces the newest secret when a key is rotated twice', () => {
    givenHistory(apiKeyCreated(), apiKeyRotated(second, { previousValidUntil: later(60) }))
      .when(rotateApiKey, { ...input, overlapSeconds: 1 })
      .then(rotated(later(1), { previousSecretHash: hashKey(second) }));
  });

  it('ends all earlier secrets when the overlap ends, and those sooner that end sooner', () => {
    const validUntil = (...overlaps: ReadonlyArray<number>) =>
      stateOf(
        apiKey,
        apiKeyCreated(),
        ...overlaps.map((seconds, index) => apiKeyRotated(`secret ${index}`, { previousValidUntil: timeOf(seconds) })),
      )?.secrets.map((secret) => secret.validUntil);
    assert.deepEqual(validUntil(600, 300), [null, timeOf(300), timeOf(300)]);
    assert.deepEqual(validUntil(300, 600), [null, timeOf(600), timeOf(300)]);
    assert.deepEqual(validUntil(600, 0), [null]);
    assert.deepEqual(validUntil(600, 600, 0), [null]);
  });

  it('keeps at most 16 replaced secrets, however often a key is rotated', () => {
    const rotations = Array.from({ length: 100 }, (_, index) =>
      apiKeyRotated(`secret ${index}`, { previousValidUntil: timeOf(86_400) }),
    );
    assert.equal(stateOf(apiKey, apiKeyCreated(), ...rotations)?.secrets.length, 17);
  });

  it('keeps the expiry of a rotated key, moves it, or removes it', () => {
    const ending = apiKeyCreated({ expiresAt: later(60) });
    givenHistory(ending)
      .when(rotateApiKey, input)
      .then(rotated(decidedAt, { expiresAt: later(60) }));
    givenHistory(ending)
      .when(rotateApiKey, { ...input, expiresAt: later(90) })
      .then(rotated(decidedAt, { expiresAt: later(90) }));
    givenHistory(ending)
      .when(rotateApiKey, { ...input, expiresAt: null })
      .then(rotated(decidedAt));
  });

  it('never lets an earlier secret outlive the expiry that the key had', () => {
    givenHistory(apiKeyCreated({ expiresAt: later(60) }))
      .when(rotateApiKey, { ...input, expiresAt: null, overlapSeconds: 3600 })
      .then(rotated(later(60)));
  });

  it('refuses to rotate an expired key, unless its expiry is moved to the future', () => {
    const ended = apiKeyCreated({ expiresAt: later(-1) });
    givenHistory(ended).when(rotateApiKey, input).then('invalid-input');
    givenHistory(ended)
      .when(rotateApiKey, { ...input, expiresAt: decidedAt })
      .then('invalid-input');
    givenHistory(ended)
      .when(rotateApiKey, { ...input, expiresAt: later(1), overlapSeconds: 60 })
      .then(rotated(later(-1), { expiresAt: later(1) }));
  });

  it('records no key when the operator on the machine rotates a key', () => {
    givenHistory(apiKeyCreated())
      .when(rotateApiKey, input, { caller: localOperator })
      .then(rotated(decidedAt, { rotatedByKeyId: null }));
  });

  describeKeyManagement(rotateApiKey, input);

  describe('input of rotate_api_key', () => {
    const of = inputOf(rotateApiKey, input);
    of.id('keyId');
    of.optional('overlapSeconds', 0);
    for (const value of [0, 1, 86_400]) of.accepts('overlapSeconds', value);
    of.optional('expiresAt', undefined);
    of.accepts('expiresAt', null);
    of.accepts('expiresAt', '2026-03-01T01:00:00.5+02:00', undefined, '2026-02-28T23:00:00.500Z');
    for (const value of ['', '2026-03-01', '2026-02-30T00:00:00Z', '2026-03-01T24:00:00Z', 1, 'tomorrow'])
      of.refuses('expiresAt', value);
    of.refuses('expiresAt', '9999-12-31T23:59:59-01:00');
    for (const value of [-1, 86_401, 0.5, '60', '', null, true, [60]]) of.refuses('overlapSeconds', value);
  });
});
