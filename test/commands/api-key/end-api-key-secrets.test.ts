import assert from 'node:assert/strict';
import { endApiKeySecrets } from '#commands/api-key/end-api-key-secrets.ts';
import { keyCutoff } from '#domain/api-key/api-key.ts';
import { newEvent } from '#domain/shared/event.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { decidedAt, givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const ended = (issuedBefore: string) => newEvent('ApiKeySecretsEnded', { issuedBefore });
const earlier = '2026-01-01T00:00:00.000Z';

describe('end_api_key_secrets', () => {
  it('ends all secrets issued before the given time, which must not be in the future', () => {
    givenHistory().when(endApiKeySecrets, { time: decidedAt }).then(ended(decidedAt));
    const later = new Date(Date.parse(decidedAt) + 1).toISOString();
    givenHistory().when(endApiKeySecrets, { time: later }).then('invalid-input');
  });

  it('changes nothing when all secrets issued before the time have ended already', () => {
    givenHistory(ended(decidedAt)).when(endApiKeySecrets, { time: earlier }).then();
    givenHistory(ended(earlier)).when(endApiKeySecrets, { time: earlier }).then();
    givenHistory(ended(earlier)).when(endApiKeySecrets, { time: decidedAt }).then(ended(decidedAt));
  });

  it('never restores an ended secret when an earlier time follows a later one', () => {
    assert.equal(stateOf(keyCutoff, ended(decidedAt), ended(earlier)).issuedBefore, decidedAt);
  });

  describe('input of end_api_key_secrets', () => {
    const of = inputOf(endApiKeySecrets, { time: earlier });
    of.required('time');
    of.accepts('time', '2026-03-01T01:00:00+02:00', undefined, '2026-02-28T23:00:00.000Z');
    for (const value of [null, '', 'now', '2026-01-01', 1]) of.refuses('time', value);
  });
});
