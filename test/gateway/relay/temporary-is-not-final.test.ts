import assert from 'node:assert/strict';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { type Behaviour, completion, error, json, reset } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';

const tooLong = error(400, 'context_length_exceeded');
const failing = error(500, 'server_error');
const served = json(completion('served'));

describe('a call of which one target is failing', () => {
  const given = chatService({ primary: served, backup: served });
  const call = (more: object = {}) => post(given.service, path, { model: 'large', messages, ...more });
  const codeOf = ({ text }: { readonly text: string }) => JSON.parse(text).error.code;

  /** Calls the models that have a single target until its circuit is open. */
  const openCircuit = async (of: 'primary' | 'backup') => {
    given[of].answers(failing);
    const model = of === 'primary' ? 'alone' : 'small';
    const circuit = () =>
      given.service.gateway.targets().find(({ provider, servesModels }) => {
        return provider === of && servesModels.includes('large');
      })?.circuit;
    for (let calls = 0; circuit() !== 'open'; calls += 1) {
      assert.ok(calls < 10, 'the circuit opens');
      await post(given.service, path, { model, messages });
    }
    // The circuit stays open for as long as the test takes.
    given.service.letCircuitsWait(-60_000);
  };

  beforeEach(() => {
    const { models, ...rest } = given.configuration({ retries: 0 });
    given.service.configure({
      ...rest,
      models: { ...models, small: { targets: [{ provider: 'backup', model: 'other-y' }], retries: 0 } },
    });
  });

  it('asks a fallback in rest when the request is too long for the target', async () => {
    await openCircuit('backup');
    given.primary.answers(tooLong);
    given.backup.answers(served);
    const answer = await call();
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-switchyard-target'), 'backup/other-y');
  });

  it('asks a target in rest when the key of the other is refused', async () => {
    await openCircuit('backup');
    given.primary.answers(error(401, 'invalid_api_key'));
    given.backup.answers(served);
    assert.equal((await call()).status, 200);
  });

  it('asks a target in rest when the one in its place refuses the request', async () => {
    await openCircuit('primary');
    given.primary.answers(served);
    given.backup.answers(error(422, 'odd'));
    const answer = await call();
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-switchyard-target'), 'primary/gpt-x');
  });

  it('asks a target in rest once in each period when the one in its place refuses the requests', async () => {
    await openCircuit('primary');
    given.primary.answers(failing);
    given.backup.answers(error(422, 'odd'));
    const seen = given.primary.seen.length;
    const statuses: number[] = [];
    for (let calls = 0; calls < 4; calls += 1) statuses.push((await call()).status);
    assert.deepEqual([statuses, given.primary.seen.length - seen], [[502, 422, 422, 422], 1]);
  });

  it('leaves a fallback in rest alone when its target refuses the request', async () => {
    await openCircuit('backup');
    given.primary.answers(error(422, 'odd'));
    given.backup.answers(served);
    assert.equal((await call()).status, 422);
    assert.equal(given.backup.seen.length, 0);
  });

  it('leaves a fallback in rest alone when its target only fails now', async () => {
    await openCircuit('backup');
    given.primary.answers(failing);
    given.backup.answers(served);
    assert.equal((await call()).status, 502);
    assert.equal(given.backup.seen.length, 0);
  });

  const failures: ReadonlyArray<readonly [string, Behaviour, number, string]> = [
    ['5xx', failing, 502, 'provider_failed'],
    ['429', error(429, 'rate_limit_exceeded'), 429, 'rate_limit_exceeded'],
    ['a broken connection', reset, 502, 'provider_reset'],
    ['503', error(503, 'overloaded'), 503, 'provider_overloaded'],
  ];
  for (const [what, behaviour, status, code] of failures) {
    for (const [whose, refusal] of [
      ['too long for', tooLong],
      ['refused by', error(422, 'odd')],
    ] as const) {
      it(`is answered with ${what} of a target when the request is ${whose} its fallback`, async () => {
        given.primary.answers(behaviour);
        given.backup.answers(refusal);
        const answer = await call();
        assert.deepEqual([answer.status, codeOf(answer)], [status, code]);
        assert.equal(given.service.records.at(-1)?.outcome, 'failed');
      });
    }

    it(`is answered with ${what} of a fallback in rest when the request is too long for the target`, async () => {
      await openCircuit('backup');
      given.primary.answers(tooLong);
      given.backup.answers(behaviour);
      const answer = await call();
      assert.deepEqual([answer.status, codeOf(answer)], [status, code]);
    });
  }

  it('is refused when the request is too long for every target', async () => {
    await openCircuit('backup');
    given.primary.answers(tooLong);
    given.backup.answers(tooLong);
    const answer = await call();
    assert.deepEqual([answer.status, codeOf(answer)], [400, 'context_length_exceeded']);
    assert.deepEqual([given.primary.seen.length, given.backup.seen.length], [1, 1]);
    assert.equal(given.service.records.at(-1)?.outcome, 'refused');
  });

  it('is refused when the request is too long for a target and the key of its fallback is refused', async () => {
    given.primary.answers(tooLong);
    given.backup.answers(error(401, 'invalid_api_key'));
    assert.equal(codeOf(await call()), 'context_length_exceeded');
  });

  it('asks one target when all are in rest and it fails', async () => {
    await openCircuit('primary');
    await openCircuit('backup');
    given.primary.answers(failing);
    given.backup.answers(failing);
    assert.equal((await call()).status, 502);
    assert.equal(given.primary.seen.length + given.backup.seen.length, 1);
  });

  it('asks all targets when all are in rest and the request is too long for each', async () => {
    await openCircuit('primary');
    await openCircuit('backup');
    given.primary.answers(tooLong);
    given.backup.answers(tooLong);
    assert.equal(codeOf(await call()), 'context_length_exceeded');
    assert.deepEqual([given.primary.seen.length, given.backup.seen.length], [1, 1]);
  });
});
