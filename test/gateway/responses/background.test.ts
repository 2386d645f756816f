import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { keptCount } from '#exchange/held.ts';
import {
  type Behaviour,
  completion,
  error,
  FakeProvider,
  json,
  type SeenRequest,
  silence,
} from '#test/gateway/support/fake-provider.ts';
import {
  type GatewayService,
  type GatewayServiceOptions,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { goodKey, caller as someCaller } from '#test/http/support/fake-service.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

type Made = Record<string, unknown> & { readonly id: string };

const path = '/v1/responses';
const asked = { model: 'native', input: 'think long', background: true };

const responseOf = (more: object): Made =>
  openAiResponse([], { background: true, store: true, usage: null, ...more }) as Made;
const finishedAs = (response: Made, more: object = {}): Made => ({
  ...openAiResponse([outputMessage('a long answer')], { background: true, store: true, ...more }),
  id: response.id,
});

describe('Responses in the background', () => {
  const time = movedTime();
  let openai: FakeProvider;
  let other: FakeProvider;
  let service: GatewayService;

  const configuration = (hostedTools = true) => ({
    providers: {
      openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true, hostedTools },
      account2: { kind: 'openai-compatible', baseUrl: other.baseUrl, responses: true, hostedTools },
      other: { kind: 'openai-compatible', baseUrl: other.baseUrl },
    },
    models: {
      native: {
        targets: [{ provider: 'other', model: 'gpt-y' }],
        fallbacks: [{ provider: 'openai', model: 'gpt-x' }],
      },
      foreign: { targets: [{ provider: 'other', model: 'gpt-y' }] },
      second: { targets: [{ provider: 'account2', model: 'gpt-x' }] },
    },
  });
  const restart = async (options: GatewayServiceOptions = {}, hostedTools = true) => {
    await service.stop();
    service = await startGateway(configuration(hostedTools), options);
  };

  before(async () => {
    [openai, other] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([openai.stop(), other.stop()]));
  beforeEach(async () => {
    other.answers(json(completion('from the other')));
    service = await startGateway(configuration());
  });
  afterEach(() => service.stop());

  const call = async (method: string, under = '', body?: unknown, key = goodKey) => {
    const answer = await fetch(service.url + path + under, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: () => JSON.parse(text) };
  };
  const requests = () => openai.seen.map(({ method, path: where }) => `${method} ${where}`);
  const begin = async (more: object = {}): Promise<Made> => {
    const queued = responseOf({ status: 'queued' });
    openai.answers(json(queued));
    const answer = await call('POST', '', { ...asked, ...more });
    assert.deepEqual(answer.body(), { ...queued, previous_response_id: null });
    return queued;
  };
  const areRequested = (...expected: ReadonlyArray<string>) =>
    eventually(() => isDeepStrictEqual(requests(), expected), `the requests ${expected}`);
  /** Ends the response at the provider, which then deletes it when it is asked to. */
  const end = (response: Made, more: object = {}) =>
    openai.answers(json(finishedAs(response, more)), json({ id: response.id, deleted: true }));

  it('are asked for with the provider’s own copy, and only where OpenAI’s tools run', async () => {
    await begin();
    assert.deepEqual(JSON.parse(openai.seen[0]?.body.toString() ?? ''), { ...asked, model: 'gpt-x' });
    assert.equal(other.seen.length, 0);
    for (const [model, hostedTools] of [
      ['foreign', true],
      ['native', false],
    ] as const) {
      await restart({}, hostedTools);
      const refused = await call('POST', '', { ...asked, model });
      const { code, param } = refused.body().error;
      assert.deepEqual([refused.status, code, param], [400, 'unsupported_by_target', 'background']);
    }
    const unstored = await call('POST', '', { ...asked, store: false });
    assert.deepEqual([unstored.status, unstored.body().error.param], [400, 'store']);
    assert.equal(openai.seen.length, 1);
  });

  it('are the provider’s until they are finished, and stored here when their end is first read', async () => {
    const queued = await begin();
    openai.answers(json({ ...queued, status: 'in_progress' }));
    for (let read = 0; read < 2; read += 1)
      assert.equal((await call('GET', `/${queued.id}`)).body().status, 'in_progress');
    const early = await call('POST', '', { model: 'foreign', input: 'more', previous_response_id: queued.id });
    assert.deepEqual([early.status, early.body().error.code], [400, 'response_not_finished']);
    const { data } = (await call('GET', `/${queued.id}/input_items`)).body();
    assert.equal(data[0].content[0].text, 'think long');

    end(queued);
    const first = await call('GET', `/${queued.id}?include[]=reasoning.encrypted_content`);
    const { status, store, output } = first.body();
    assert.deepEqual([status, store, output[0].content[0].text], ['completed', true, 'a long answer']);
    await areRequested(
      `GET ${path}/${queued.id}?include%5B%5D=reasoning.encrypted_content`,
      `DELETE ${path}/${queued.id}`,
    );
    assert.deepEqual((await call('GET', `/${queued.id}`)).body(), first.body());
    assert.match((await call('GET', `/${queued.id}?stream=true`)).text, /event: response\.completed/);
    assert.equal(openai.seen.length, 2, 'the provider is not asked again');
    await call('POST', '', { model: 'foreign', input: 'more', previous_response_id: queued.id });
    assert.deepEqual(
      JSON.parse(other.seen.at(-1)?.body.toString() ?? '').messages.map(({ content }: { content: string }) => content),
      ['think long', 'a long answer', 'more'],
    );
  });

  it('are counted once: when they are asked for, and with their usage when their end is read', async () => {
    const queued = await begin();
    openai.answers(json({ ...queued, status: 'in_progress' }));
    await call('GET', `/${queued.id}`);
    end(queued);
    await Promise.all([call('GET', `/${queued.id}`), call('GET', `/${queued.id}`)]);
    await call('GET', `/${queued.id}`);
    assert.deepEqual(
      service.records.map(({ operation, model, target, tokens }) => [operation, model, target, tokens?.input ?? null]),
      [
        ['responses', 'native', 'openai/gpt-x', null],
        ['responses', 'native', 'openai/gpt-x', 15],
      ],
    );
  });

  const usage = () => service.records.map(({ tokens, cost }) => [tokens?.input ?? null, cost]);

  it('are counted once if their end is too large to be stored, and stay at the provider', async () => {
    const queued = await begin();
    const output = [outputMessage('x'.repeat(9 * 1024 * 1024))];
    openai.answers(json(finishedAs(queued, { output })));
    for (let read = 0; read < 2; read += 1) assert.equal((await call('GET', `/${queued.id}`)).status, 200);
    assert.deepEqual(requests(), [`GET ${path}/${queued.id}`, `GET ${path}/${queued.id}`]);
    assert.deepEqual(usage(), [
      [null, null],
      [15, null],
    ]);
  });

  it('are counted once if another call reads their end before the stream that has begun them', async () => {
    const made = responseOf({ status: 'queued' });
    const events = eventsOfResponse(finishedAs(made));
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const streamed: Behaviour = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(events[0]);
      await isRead;
      res.end(events.slice(1).join(''));
    };
    openai.answers(streamed, json(finishedAs(made)), json({}));
    const stream = call('POST', '', { ...asked, stream: true });
    await eventually(async () => (await call('GET', `/${made.id}`)).status === 200, 'the stored response');
    read();
    assert.match((await stream).text, /event: response\.completed/);
    assert.deepEqual(
      usage()
        .map(([input]) => input)
        .sort(),
      [15, null],
    );
  });

  for (const { under, method } of [
    { under: '', method: 'GET' },
    { under: '?stream=true', method: 'GET' },
    { under: '/cancel', method: 'POST' },
  ])
    it(`are answered from here where another call has their end by then: ${method} ${under}`, async () => {
      const queued = await begin();
      const { promise: isGone, resolve: remove } = Promise.withResolvers<void>();
      const late: Behaviour = async (res, seen) => {
        await isGone;
        await error(404, 'not_found')(res, seen);
      };
      openai.answers(late, json(finishedAs(queued)), json({}));
      const second = call(method, `/${queued.id}${under}`);
      await eventually(() => requests().length === 1, 'the second call');
      await call('GET', `/${queued.id}`);
      remove();
      const { status, text } = await second;
      assert.equal(status, 200, text);
      assert.match(text, under === '?stream=true' ? /event: response\.completed/ : /"status":"completed"/);
    });

  it('are stored where the provider compresses its answer', async () => {
    const queued = responseOf({ status: 'queued' });
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    openai.answers((res) => void res.writeHead(200, headers).end(gzipSync(JSON.stringify(queued))));
    assert.equal((await call('POST', '', asked)).body().status, 'queued');
    openai.answers(json(queued));
    assert.equal((await call('GET', `/${queued.id}`)).body().status, 'queued');
  });

  it('continue a conversation that is kept here', async () => {
    openai.answers(json(openAiResponse([outputMessage('one')])));
    other.answers(error(400, 'bad'), json(completion('one')));
    const before = (await call('POST', '', { model: 'foreign', input: 'first' })).status;
    assert.equal(before, 400);
    const first = (await call('POST', '', { model: 'foreign', input: 'first' })).body();
    const queued = responseOf({ status: 'queued' });
    openai.answers(json(queued));
    const answer = (await call('POST', '', { ...asked, previous_response_id: first.id })).body();
    assert.equal(answer.previous_response_id, first.id);
    const sent = JSON.parse(openai.seen[0]?.body.toString() ?? '');
    assert.deepEqual([sent.input.length, sent.previous_response_id, sent.store], [3, undefined, undefined]);
    end(queued);
    assert.equal((await call('GET', `/${queued.id}`)).body().previous_response_id, first.id);
  });

  it('are cancelled at the provider, and stay as they ended', async () => {
    const queued = await begin();
    openai.answers(json({ ...queued, status: 'cancelled' }), json({}));
    assert.equal((await call('POST', `/${queued.id}/cancel`)).body().status, 'cancelled');
    await areRequested(`POST ${path}/${queued.id}/cancel`, `DELETE ${path}/${queued.id}`);
    assert.equal((await call('POST', `/${queued.id}/cancel`)).body().status, 'cancelled');
    assert.equal((await call('GET', `/${queued.id}`)).body().status, 'cancelled');
    assert.equal(openai.seen.length, 2);
  });

  it('keep no place of their project while the provider’s copy is deleted', async () => {
    service.configure({ ...configuration(), limits: { callsAtOnce: 1 } });
    const queued = await begin();
    openai.answers(json(finishedAs(queued)), silence);
    assert.equal((await call('GET', `/${queued.id}`)).status, 200);
    await areRequested(`GET ${path}/${queued.id}`, `DELETE ${path}/${queued.id}`);
    assert.equal((await call('GET', `/${queued.id}`)).status, 200);
  });

  it('keep what deletes the provider’s copy until it is deleted', async () => {
    const before = keptCount('provider copy');
    const queued = await begin();
    const deleted = Promise.withResolvers<void>();
    openai.answers(json(finishedAs(queued)), async (res) => {
      await deleted.promise;
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"deleted":true}');
    });
    assert.equal((await call('GET', `/${queued.id}`)).status, 200);
    await areRequested(`GET ${path}/${queued.id}`, `DELETE ${path}/${queued.id}`);
    assert.equal(keptCount('provider copy'), before + 1);
    deleted.resolve();
    await eventually(() => keptCount('provider copy') === before, 'the end of the clean-up');
  });

  it('are deleted at the provider too', async () => {
    const gone = await begin();
    openai.answers(error(404, 'not_found'));
    assert.equal((await call('DELETE', `/${gone.id}`)).body().deleted, true);
    await areRequested(`GET ${path}/${gone.id}`);
    const kept = await begin();
    openai.answers(error(400, 'busy'));
    const refused = await call('DELETE', `/${kept.id}`);
    assert.deepEqual([refused.status, refused.body().error.code], [400, 'busy']);
    end(kept);
    assert.equal((await call('GET', `/${kept.id}`)).status, 200);
    assert.equal((await call('DELETE', `/${kept.id}`)).status, 200);
    assert.equal(openai.seen.length, 2);
  });

  it('are counted when they are deleted although nobody has read their end', async () => {
    const finished = await begin();
    const read = json(finishedAs(finished));
    openai.answers(read, error(400, 'busy'), read, json({}));
    assert.equal((await call('DELETE', `/${finished.id}`)).status, 400);
    assert.equal((await call('DELETE', `/${finished.id}`)).body().deleted, true);
    const under = `${path}/${finished.id}`;
    assert.deepEqual(requests(), [`GET ${under}`, `DELETE ${under}`, `GET ${under}`, `DELETE ${under}`]);
    assert.equal((await call('GET', `/${finished.id}`)).status, 404);
    const running = await begin();
    const cancelled = { ...finishedAs(running), status: 'cancelled', output: [] };
    openai.answers(json({ ...running, status: 'in_progress' }), json(cancelled), json({}));
    assert.equal((await call('DELETE', `/${running.id}`)).body().deleted, true);
    const inRun = `${path}/${running.id}`;
    assert.deepEqual(requests(), [`GET ${inRun}`, `POST ${inRun}/cancel`, `DELETE ${inRun}`]);
    const counted = service.records.filter(({ tokens }) => tokens !== null);
    assert.deepEqual(
      counted.map(({ operation, model, target, tokens, keyId }) => [operation, model, target, tokens?.input, keyId]),
      Array.from({ length: 2 }, () => ['responses', 'native', 'openai/gpt-x', 15, someCaller.keyId]),
    );
  });

  it('are kept here after they have failed, and a provider that fails says so', async () => {
    const queued = await begin();
    openai.answers(error(404, 'not_found'));
    assert.equal((await call('GET', `/${queued.id}`)).status, 404);
    end(queued, { status: 'failed', output: [], error: { code: 'server_error', message: 'It broke.' } });
    assert.equal((await call('GET', `/${queued.id}`)).body().error.message, 'It broke.');
    assert.equal((await call('GET', `/${queued.id}`)).body().status, 'failed');
    const deleted = await begin();
    service.configure({ ...configuration(), models: { foreign: configuration().models.foreign } });
    const lost = await call('GET', `/${deleted.id}`);
    assert.deepEqual([lost.status, lost.body().error.code], [502, 'no_provider']);
    assert.equal((await call('DELETE', `/${deleted.id}`)).status, 200);
  });

  it('are stored before the first event of a stream leaves, and read after its client has left', async () => {
    const made = responseOf({ status: 'queued' });
    const events = eventsOfResponse(finishedAs(made));
    const begun = `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', sequence_number: 0, response: made })}\n\n`;
    openai.answers((res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun));
    const leaving = new AbortController();
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey },
      body: JSON.stringify({ ...asked, stream: true }),
      signal: leaving.signal,
    });
    const { value } = (await answer.body?.getReader().read()) ?? {};
    assert.match(Buffer.from(value ?? []).toString(), /"status":"queued".*"store":true/);
    leaving.abort();
    await eventually(() => openai.seen[0]?.closedAt !== null, 'the end of the call');
    const streamed: Behaviour = (res) =>
      void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.slice(3).join(''));
    openai.answers(streamed, json({}));
    const resumed = await call('GET', `/${made.id}?stream=true&starting_after=2`);
    assert.match(resumed.text, /^event: response\.content_part\.added.*event: response\.completed/s);
    await areRequested(`GET ${path}/${made.id}?starting_after=2&stream=true`, `DELETE ${path}/${made.id}`);
    assert.equal((await call('GET', `/${made.id}`)).body().status, 'completed');
  });

  it('end a resumed stream with their last event, although they are stored here by now', async () => {
    const queued = await begin();
    end(queued);
    await call('GET', `/${queued.id}`);
    const resumed = await call('GET', `/${queued.id}?stream=true&starting_after=450`);
    assert.match(resumed.text, /^event: response\.completed\ndata: .*"sequence_number":451\}\n\n$/);
  });

  it('that have failed end a stream that reads them, and are no failure of the target', async () => {
    const queued = await begin();
    const failed = { ...queued, status: 'failed', error: { code: 'server_error', message: 'It broke.' } };
    const event = { type: 'response.failed', sequence_number: 2, response: failed };
    const text = `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
    openai.answers((res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text), json({}));
    const read = await call('GET', `/${queued.id}?stream=true`);
    assert.deepEqual([read.status, read.text.split('\n')[0]], [200, 'event: response.failed']);
    await areRequested(`GET ${path}/${queued.id}?stream=true`, `DELETE ${path}/${queued.id}`);
    assert.deepEqual(
      service.records.at(-1)?.attempts.map(({ result }) => result),
      ['served'],
    );
    assert.equal((await call('GET', `/${queued.id}`)).body().error.message, 'It broke.');
  });

  it('are no failed responses where their stream breaks before they have begun: the provider may make them', async () => {
    const { providers, models } = configuration();
    service.configure({
      providers: { ...providers, openai: { ...providers.openai, timeouts: { earlyHeadMs: 1 } } },
      models: { ...models, native: { ...models.native, retries: 0 } },
    });
    const answered = Promise.withResolvers<ServerResponse>();
    openai.answers((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      answered.resolve(res);
    });
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': goodKey },
      body: JSON.stringify({ ...asked, stream: true }),
    });
    (await answered.promise).destroy();
    assert.match(
      await answer.text(),
      /^: waiting\n\nevent: error\ndata: \{"type":"error","code":"provider_reset".*\n\n$/,
    );
  });

  it('keep a client that reads their stream alive while nothing comes', async () => {
    const queued = await begin();
    const answered = Promise.withResolvers<ServerResponse>();
    const first = `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', response: queued })}\n\n`;
    openai.answers((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(first);
      answered.resolve(res);
    });
    const reading = call('GET', `/${queued.id}?stream=true`);
    const provider = await answered.promise;
    await time.pass(15_001);
    await time.pass(0);
    provider.destroy();
    assert.match((await reading).text, /^event: response\.created\n.*\n\n: waiting\n\n/);
  });

  it('are asked for with the known parameters alone, as the gateway reads them', async () => {
    const queued = await begin();
    const running = json({ ...queued, status: 'in_progress' });
    const queries = ['stream=1', 'stream=false&stream=true', 'api-version=1&starting_after=2&include=a%26b'];
    openai.answers(running);
    for (const query of queries) assert.equal((await call('GET', `/${queued.id}?${query}`)).status, 200);
    const under = `GET ${path}/${queued.id}`;
    assert.deepEqual(requests(), [under, under, `${under}?include=a%26b`]);
  });

  it('that are streamed to their end are stored as they ended', async () => {
    for (const gapMs of [0, 5]) {
      const made = responseOf({ status: 'queued' });
      openai.answers(async (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of eventsOfResponse(finishedAs(made))) {
          res.write(event);
          if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
        }
        res.end();
      }, json({}));
      const streamed = await call('POST', '', { ...asked, stream: true });
      assert.match(streamed.text, /"store":true.*event: response\.completed/s);
      await areRequested(`POST ${path}`, `DELETE ${path}/${made.id}`);
      assert.equal((await call('GET', `/${made.id}`)).body().status, 'completed');
      assert.equal((await call('DELETE', `/${made.id}`)).status, 200);
      assert.equal(openai.seen.length, 2);
    }
  });

  for (const stream of [false, true])
    it(`are cancelled and refused if they cannot be stored${stream ? ', as a stream' : ''}`, async () => {
      const responses = inMemoryResponses();
      await restart({ responses });
      responses.add = () => Promise.reject(new Error('the disk is full'));
      const made = responseOf({ status: 'queued' });
      const [begun = ''] = eventsOfResponse(made);
      const answer: Behaviour = stream
        ? (res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun)
        : json(made);
      openai.answers(answer, json(made), json({}));
      const refused = await call('POST', '', { ...asked, stream });
      assert.deepEqual([refused.status, refused.body().error.code], [503, 'unavailable']);
      await areRequested(`POST ${path}`, `POST ${path}/${made.id}/cancel`, `DELETE ${path}/${made.id}`);
    });

  it('are refused before they begin if they are too large to be stored', async () => {
    openai.answers(json({}));
    const large = await call('POST', '', { ...asked, input: 'x'.repeat(8 * 1024 * 1024) });
    assert.deepEqual([large.status, large.body().error.code], [413, 'body_too_large']);
    const content = Array.from({ length: 40_000 }, () => ({ type: 'input_text', text: 'x' }));
    const many = await call('POST', '', { ...asked, input: [{ role: 'user', content }] });
    assert.deepEqual([many.status, many.body().error.param], [400, 'input']);
    assert.equal(openai.seen.length, 0);
  });

  it('that cannot be stored are refused before the provider has cancelled them', async () => {
    const responses = inMemoryResponses();
    await restart({ responses });
    responses.add = () => Promise.reject(new Error('the disk is full'));
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    const slow: Behaviour = async (res, seen) => {
      await isAnswered;
      await json({})(res, seen);
    };
    openai.answers(json(responseOf({ status: 'queued' })), slow, json({}));
    assert.equal((await call('POST', '', asked)).status, 503);
    await eventually(() => requests().length === 2, 'the cancel');
    answer();
    await eventually(() => requests().length === 3, 'the deletion');
  });

  it('ends with an error where the provider does not answer', async () => {
    const queued = await begin();
    const slow = configuration();
    const timeouts = { connectMs: 100, headersMs: 100, firstContentMs: 100, idleMs: 100, totalMs: 400 };
    service.configure({ ...slow, providers: { ...slow.providers, openai: { ...slow.providers.openai, timeouts } } });
    openai.answers(silence);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await call(method, `/${queued.id}`)).body().error.code, 'provider_timeout');
  });

  it('are nothing for another project, in every place', async () => {
    const callers = { one: someCaller, two: { ...someCaller, projectId: 'cproject2', keyId: 'ckey2' } };
    await restart({ authenticate: async (key) => callers[key as 'one'] ?? null });
    const queued = responseOf({ status: 'queued' });
    openai.answers(json(queued));
    assert.equal((await call('POST', '', asked, 'one')).status, 200);
    const tried = await Promise.all([
      call('GET', `/${queued.id}`, undefined, 'two'),
      call('GET', `/${queued.id}?stream=true`, undefined, 'two'),
      call('GET', `/${queued.id}/input_items`, undefined, 'two'),
      call('POST', `/${queued.id}/cancel`, undefined, 'two'),
      call('DELETE', `/${queued.id}`, undefined, 'two'),
      call('POST', '', { ...asked, previous_response_id: queued.id }, 'two'),
    ]);
    for (const { status } of tried) assert.equal(status, 404);
    assert.equal(openai.seen.length, 1);
  });

  describe('and containers', () => {
    const ran = (id: string) => ({ id: 'ci_1', type: 'code_interpreter_call', status: 'completed', container_id: id });
    const using = (id: string) => ({
      model: 'native',
      input: 'again',
      tools: [{ type: 'code_interpreter', container: id }],
    });
    const answering = (response: object) => (res: Parameters<Behaviour>[0], seen: SeenRequest) =>
      json(response)(res, seen);

    it('pass if an answer to this project has named them, to the provider that has them', async () => {
      const callers = { one: someCaller, two: { ...someCaller, projectId: 'cproject2', keyId: 'ckey2' } };
      await restart({ authenticate: async (key) => callers[key as 'one'] ?? null });
      const auto = { ...using(''), tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] };
      openai.answers(answering(openAiResponse([ran('cntr_1')])));
      const strict = { ...auto, tool_choice: { type: 'code_interpreter' } };
      assert.equal((await call('POST', '', strict, 'one')).status, 200);
      const again = { ...using('cntr_1'), tool_choice: { type: 'code_interpreter' } };
      assert.equal((await call('POST', '', again, 'one')).status, 200);
      assert.deepEqual(JSON.parse(openai.seen.at(-1)?.body.toString() ?? '').tools, again.tools);
      const elsewhere = await call('POST', '', { ...again, model: 'second' }, 'one');
      assert.deepEqual([elsewhere.status, elsewhere.body().error.code], [400, 'unsupported_by_target']);
      const seen = openai.seen.length;
      const places = [
        again,
        { ...asked, tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
        { ...auto, input: [ran('cntr_1'), { role: 'user', content: 'hi' }] },
        {
          ...auto,
          input: [{ type: 'shell_call', environment: { type: 'container_reference', container_id: 'cntr_1' } }],
        },
        // An item of a client's own does not make a container known.
        { model: 'native', input: [{ id: 'container:cntr_1', role: 'user', content: 'hi' }] },
      ];
      for (const [index, body] of places.entries())
        assert.equal((await call('POST', '', body, 'two')).status, index === 4 ? 200 : 404, `${index}`);
      assert.equal((await call('POST', '', again, 'two')).status, 404);
      assert.equal(openai.seen.length, seen);
    });

    it('are found in earlier turns and in named items too, whose provider alone gets the request', async () => {
      openai.answers(answering(openAiResponse([ran('cntr_1')])));
      const hosted = { model: 'native', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] };
      const strict = { ...hosted, tool_choice: { type: 'code_interpreter' } };
      const { id: first } = (await call('POST', '', { ...strict, input: 'run' })).body();
      const named = [{ type: 'item_reference', id: 'ci_1' }];
      const { id: second } = (await call('POST', '', { ...strict, input: named })).body();
      const own = [ran('cntr_1')].map(({ id: _, ...item }) => item);
      const { id: third } = (await call('POST', '', { ...strict, input: own })).body();
      for (const more of [
        { previous_response_id: first, input: 'again' },
        { previous_response_id: second, input: 'again' },
        { previous_response_id: third, input: 'again' },
        { input: named },
      ]) {
        const seen = other.seen.length;
        const elsewhere = await call('POST', '', { ...strict, model: 'second', ...more });
        assert.deepEqual([elsewhere.status, elsewhere.body().error.code], [400, 'unsupported_by_target']);
        assert.equal(other.seen.length, seen);
        assert.equal((await call('POST', '', { ...strict, ...more })).status, 200);
      }
    });
  });
});
