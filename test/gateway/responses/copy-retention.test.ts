import assert from 'node:assert/strict';
import { CopyRetention, checkPauseMs } from '#gateway/responses/copy-retention.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import { error, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { goodKey, caller as someCaller } from '#test/http/support/fake-service.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const path = '/v1/responses';

describe('The copies of responses at providers', () => {
  let openai: FakeProvider;
  let service: GatewayService;
  let responses: StoredResponses;
  let retention: CopyRetention;
  let now: number;

  const configuration = (target = 'gpt-x') => ({
    providers: { openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true, hostedTools: true } },
    models: { native: { targets: [{ provider: 'openai', model: target }] } },
  });

  before(async () => {
    openai = await FakeProvider.start();
  });
  after(() => openai.stop());
  beforeEach(async () => {
    responses = inMemoryResponses();
    service = await startGateway(configuration(), { responses });
    now = Date.now();
    retention = new CopyRetention({ gateway: service.gateway, now: () => now });
  });
  afterEach(() => service.stop());

  const call = async (method: string, under = '', body?: unknown, signal = new AbortController().signal) => {
    const answer = await fetch(service.url + path + under, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const queuedResponse = () => openAiResponse([], { status: 'queued', background: true, usage: null });
  const begin = async () => {
    const queued = queuedResponse();
    openai.answers(json(queued));
    await call('POST', '', { model: 'native', input: 'think long', background: true });
    return { id: String(queued.id), running: { ...queued, status: 'in_progress' } };
  };
  const finished = (id: string) => ({ ...openAiResponse([outputMessage('done')], { background: true }), id });
  const requests = () => openai.seen.map(({ method, path: where }) => `${method} ${where}`);
  const listed = () => responses.copies.due(Number.MAX_SAFE_INTEGER, 100);
  const usage = () => service.records.flatMap(({ tokens }) => (tokens === null ? [] : [tokens.input]));
  const check = () => retention.checkCopies(new AbortController().signal);
  const checkLater = async (pauses = 1) => {
    now += pauses * checkPauseMs + 1_000;
    await check();
  };

  it('are deleted later if their deletion failed when their end was stored', async () => {
    const { id } = await begin();
    openai.answers(json(finished(id)), error(400, 'busy'), json({}));
    assert.equal((await call('GET', `/${id}`)).body.status, 'completed');
    await eventually(() => requests().length === 2, 'the failed deletion');
    await check();
    assert.equal(requests().length, 2, 'it is not due yet');
    await checkLater();
    assert.deepEqual(requests(), [`GET ${path}/${id}`, `DELETE ${path}/${id}`, `DELETE ${path}/${id}`]);
    assert.deepEqual([await listed(), usage()], [[], [15]]);
  });

  it('stay while their end is unread, and their usage is recorded once', async () => {
    const { id, running } = await begin();
    openai.answers(json(running), json(finished(id)));
    await checkLater();
    assert.deepEqual(usage(), []);
    for (let time = 0; time < 3; time += 1) await checkLater();
    assert.deepEqual(requests(), [`GET ${path}/${id}`, `GET ${path}/${id}`]);
    assert.equal((await call('GET', `/${id}`)).body.status, 'completed');
    assert.deepEqual(usage(), [15]);
    const record = service.records.find(({ tokens }) => tokens !== null);
    const { keyId, projectId } = someCaller;
    assert.deepEqual([record?.keyId, record?.projectId, record?.target], [keyId, projectId, 'openai/gpt-x']);
  });

  it('are cancelled, counted and deleted after their project was erased', async () => {
    const { id, running } = await begin();
    await responses.eraseProject(someCaller.projectId);
    openai.answers(json(running), json({ ...finished(id), status: 'cancelled' }), json({}));
    await checkLater();
    assert.deepEqual(requests(), [`GET ${path}/${id}`, `POST ${path}/${id}/cancel`, `DELETE ${path}/${id}`]);
    assert.deepEqual([await listed(), usage()], [[], [15]]);
  });

  it('are not looked for again once the provider does not have them', async () => {
    const { id } = await begin();
    openai.answers(error(404, 'not_found'));
    await checkLater();
    assert.deepEqual([requests(), await listed()], [[`GET ${path}/${id}`], []]);
  });

  it('are looked at less and less often while their provider fails, and given up in the end', async () => {
    const [one, other] = [await begin(), await begin()];
    openai.answers(error(400, 'busy'));
    await checkLater();
    assert.equal(openai.seen.length, 1, 'it is not called for the other one');
    assert.deepEqual(
      (await listed()).map(({ id, failures }) => [id, failures]),
      [
        [other.id, 0],
        [one.id, 1],
      ],
    );
    for (let time = 0; time < 100; time += 1) await checkLater(6 * 24);
    assert.deepEqual(await listed(), []);
  });

  it('stay listed while the configuration does not have their target', async () => {
    const { id } = await begin();
    service.configure(configuration('gpt-z'));
    openai.answers(json({}));
    await checkLater();
    assert.equal((await call('DELETE', `/${id}`)).body.deleted, true);
    assert.equal(openai.seen.length, 0);
    service.configure(configuration());
    openai.answers(json(finished(id)), json({}));
    await checkLater(2);
    assert.deepEqual([requests(), await listed()], [[`GET ${path}/${id}`, `DELETE ${path}/${id}`], []]);
  });

  it('are deleted if the client leaves before it can know of the response', async () => {
    const add = responses.add.bind(responses);
    const { promise: isAdded, resolve: end } = Promise.withResolvers<string>();
    const leaving = new AbortController();
    responses.add = async (turn) => {
      leaving.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      const added = await add(turn);
      end(added);
      return added;
    };
    const queued = queuedResponse();
    openai.answers(json(queued));
    await assert.rejects(call('POST', '', { model: 'native', input: 'x', background: true }, leaving.signal));
    assert.equal(await isAdded, 'stored');
    await eventually(
      async () => (await responses.turns.find(someCaller.projectId, String(queued.id))) === null,
      'the deletion of the response',
    );
    openai.answers(json(finished(String(queued.id))), json({}));
    await checkLater();
    assert.deepEqual([await listed(), usage()], [[], [15]]);
  });
});
