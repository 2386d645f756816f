import assert from 'node:assert/strict';
import { type Behaviour, bytes, error, json, reset, silence } from '#test/gateway/support/fake-provider.ts';
import { short } from '#test/gateway/support/gateway-of-two.ts';
import { openCall, post } from '#test/gateway/support/gateway-service.ts';
import { caller } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { type GatewayOfProtocols, price } from './describe-text-protocol.ts';
import type { TextProtocol } from './text-protocol.ts';

const type = { 'content-type': 'application/json' };

const cutAnswer: Behaviour = (res) => {
  res.writeHead(200, { ...type, 'content-length': '500' });
  res.write('{"a":[', () => res.destroy());
};

const stalledAnswer: Behaviour = (res) => {
  res.writeHead(200, type);
  res.write('{"a":[');
};

/** Declares what happens to answers that are not streamed. */
export function describeWholeAnswers(
  { client, loggedOperation, operation, path, provider }: TextProtocol,
  given: GatewayOfProtocols,
): void {
  const ask = { model: 'native', ...client.ask };
  const good = json(provider.answer('from the primary'));

  /** What a provider does, who serves the call, and how often each provider is asked. */
  const cases: ReadonlyArray<
    readonly [string, ReadonlyArray<Behaviour>, 'primary' | 'backup', readonly [number, number]]
  > = [
    ['500 once', [error(500, 'x'), good], 'primary', [2, 0]],
    ['429 once, without Retry-After', [error(429, 'x'), good], 'primary', [2, 0]],
    ['429 once, with a short Retry-After', [error(429, 'x', { 'retry-after-ms': '100' }), good], 'primary', [2, 0]],
    ['429 with a long Retry-After', [error(429, 'x', { 'retry-after': '9' })], 'backup', [1, 1]],
    ['503 always', [error(503, 'x')], 'backup', [3, 1]],
    ['reset once before the headers', [reset, good], 'primary', [2, 0]],
    ['reset always', [reset], 'backup', [3, 1]],
    ['silence', [silence], 'backup', [1, 1]],
    ['no JSON', [bytes('<html>', { 'content-type': 'text/html' })], 'backup', [3, 1]],
    ['JSON that is cut', [bytes('{"a":[', type)], 'backup', [3, 1]],
    ['an answer that is cut', [cutAnswer], 'backup', [3, 1]],
    ['an answer that stalls', [stalledAnswer], 'backup', [1, 1]],
    ['an error inside a 200', [json(provider.error('busy')), good], 'primary', [2, 0]],
    ['a refused key', [error(401, 'invalid_api_key')], 'backup', [1, 1]],
  ];
  for (const [what, behaviours, from, tries] of cases)
    it(`serves a whole answer although the provider fails: ${what}`, async () => {
      if (/silence|stalls/.test(what)) given.service.configure(given.configuration({}, { timeouts: short }));
      given.primary.answers(...behaviours);
      const answer = await post(given.service, path, ask);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(client.textOf(answer.json()), `from the ${from}`);
      assert.deepEqual([given.primary.seen.length, given.backup.seen.length], tries);
      assert.equal(answer.headers.get('x-switchyard-attempts'), String(tries[0] + tries[1]));
      assert.equal(answer.headers.get('x-switchyard-target'), from === 'primary' ? 'primary/own-x' : 'backup/other-y');
      assert.deepEqual(
        given.service.records.map(({ outcome, attempts }) => [outcome, attempts.length]),
        [['served', tries[0] + tries[1]]],
      );
    });

  for (const [what, behaviour, status] of [
    ['a refusal', json(provider.error('odd'), 422), 422],
    ['500', error(500, 'x'), 502],
    ['503', error(503, 'x', { 'retry-after': '20' }), 503],
    ['silence', silence, 504],
    ['a reset', reset, 502],
  ] as const)
    it(`answers ${status} in the form of the protocol when no other target is left: ${what}`, async () => {
      given.service.configure(given.configuration({ retries: 0 }, what === 'silence' ? { timeouts: short } : {}));
      given.primary.answers(behaviour);
      const answer = await post(given.service, path, { ...ask, model: 'alone' });
      assert.equal(answer.status, status, answer.text);
      if (status !== 422) assert.notEqual(client.errorOf(answer.json(), answer.headers).message, '');
      assert.equal(answer.headers.get('retry-after'), status === 503 ? '20' : null);
      assert.equal(answer.headers.get('x-switchyard-target'), 'primary/own-x');
      assert.equal(given.service.records[0]?.outcome, status === 422 ? 'refused' : 'failed');
    });

  it('records a call with its usage and cost, and nothing that was said', async () => {
    await post(given.service, path, { ...ask, user: 'somebody' });
    const { attempts, ...record } = given.service.records[0] ?? assert.fail('there is no record');
    const { headersMs: _, firstContentMs, totalMs, endedAt: __, requestId: ___, ...others } = record;
    assert.deepEqual(others, {
      operation,
      keyId: caller.keyId,
      organizationId: caller.organizationId,
      projectId: caller.projectId,
      partnerId: caller.partnerId,
      model: 'native',
      target: 'primary/own-x',
      provider: 'primary',
      streamed: false,
      outcome: 'served',
      errorCode: null,
      reason: null,
      batchId: null,
      brokenAttempts: [],
      tokens: { input: 5, output: 7 },
      characters: null,
      audioSeconds: null,
      cost: (5 * price.inputPerMillion + 7 * price.outputPerMillion) / 1_000_000,
    });
    assert.deepEqual(
      attempts.map(({ startMs: ____, durationMs: _____, ...attempt }) => attempt),
      [{ target: 'primary/own-x', result: 'served', status: 200, errorType: null, reason: null }],
    );
    assert.ok(totalMs >= (firstContentMs ?? Number.POSITIVE_INFINITY));
    assert.match(given.service.logged(), new RegExp(`"operation":"${loggedOperation}","status":200`));
    assert.doesNotMatch(given.service.logged(), /somebody|from the primary/);
  });

  it('chooses the model of auto', async () => {
    await post(given.service, path, { ...client.ask, model: 'auto' });
    assert.equal(JSON.parse(String(given.primary.seen[0]?.body)).model, 'own-x');
  });

  it('ends the provider’s call when the client leaves while the provider is silent', async () => {
    given.primary.answers(silence);
    const leaving = openCall(given.service, path, ask);
    await eventually(() => given.primary.seen.length === 1, 'the call');
    leaving.leave();
    // No timeout of the provider is as short as the test's own.
    await eventually(() => given.primary.seen[0]?.closedAt !== null, 'the end of the call');
    await eventually(() => given.service.records.length === 1, 'the record');
    assert.equal(given.service.records[0]?.outcome, 'client-gone');
    assert.equal(given.backup.seen.length, 0, 'no fallback is asked');
  });
}
