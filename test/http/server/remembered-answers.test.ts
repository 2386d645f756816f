import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type AnyOperation, get } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { ByteShortage } from '#exchange/byte-budget.ts';
import { RememberedAnswers } from '#http/server/remembered-answers.ts';
import { caller, type FakeService, startFakeService, widgetId } from '#test/http/support/fake-service.ts';

describe('Remembered answers', () => {
  const path = `/v1/texts/${widgetId}`;
  const other: Caller = { ...caller, keyId: 'ckey000002' };
  const callers = new Map<string, Caller>();
  let made = 0;
  let beforeAnswer: () => void = () => undefined;
  let commits = 0;
  let shortage: ByteShortage | null = null;
  let service: FakeService;

  const operation = (name: string, more: Partial<AnyOperation>): AnyOperation =>
    ({
      name,
      summary: 'Get a text',
      plane: 'control',
      group: 'Texts',
      scope: 'flows:read',
      failures: [],
      paged: false,
      hasRevision: true,
      output: null,
      example: {},
      kind: 'query',
      input: t.intersection([t.type({ textId: cuid }), t.partial({ size: t.string })]),
      loadSubject: async () => E.right(null),
      execute: async () => {
        made += 1;
        const text = `text ${made} ü`;
        beforeAnswer();
        return E.right({ status: 200, body: { text }, revision: made });
      },
      isConditional: true,
      ...more,
    }) as AnyOperation;

  beforeEach(async () => {
    made = 0;
    beforeAnswer = () => undefined;
    shortage = null;
    callers.clear();
    callers.set('one', caller);
    callers.set('two', other);
    const resolve = (key: string) => callers.get(key) ?? null;
    service = await startFakeService({
      authenticate: async (key) => resolve(key),
      operations: [
        operation('get_text', { http: get('/v1/texts/:textId'), answersFromReadModels: true }),
        operation('get_moving_text', { http: get('/v1/moving-texts/:textId') }),
      ],
      remembered: new RememberedAnswers({
        resolveNow: resolve,
        commitCounter: {
          get commits() {
            return commits;
          },
        },
        answers: { fullFor: () => shortage },
      }),
    });
  });
  afterEach(() => service.stop());

  async function read(key: string, headers: Record<string, string> = {}, from = path) {
    const answer = await fetch(service.url + from, { headers: { authorization: `Bearer ${key}`, ...headers } });
    const text = await answer.text();
    return { status: answer.status, text, headers: answer.headers };
  }

  it('are the same bytes and headers as the answer that was made, but for the id and the time of the request', async () => {
    const first = await read('one');
    const second = await read('one');
    assert.deepEqual([made, second.status, second.text], [1, 200, first.text]);
    const comparable = ({ headers }: typeof first) =>
      [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
    assert.deepEqual(comparable(second), comparable(first));
    assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'));
  });

  it('are logged and counted like others', async () => {
    await read('one');
    await read('one', { 'x-request-id': 'asked-again' });
    const lines = service
      .logged()
      .split('\n')
      .filter((line) => line.includes('get_text'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.map(({ status, path: template, keyId }) => [status, template, keyId]),
      [
        [200, '/v1/texts/{textId}', caller.keyId],
        [200, '/v1/texts/{textId}', caller.keyId],
      ],
    );
    assert.equal(lines[1]?.requestId, 'asked-again');
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(metrics, /switchyard_http_request_duration_seconds_count\{[^}]*get_text[^}]*\} 2/);
  });

  it('are forgotten with each commit of the read models', async () => {
    await read('one');
    commits += 1;
    assert.match((await read('one')).text, /text 2/);
  });

  it('are not kept when the read models have changed while the answer was made', async () => {
    beforeAnswer = () => {
      commits += 1;
    };
    await read('one');
    assert.match((await read('one')).text, /text 2/);
  });

  it('belong to the key that has asked', async () => {
    await read('one');
    assert.match((await read('two')).text, /text 2/);
    assert.match((await read('one')).text, /text 1/);
    assert.equal((await read('unknown')).status, 401);
  });

  it('are not sent to a key that is revoked, or whose rights were read again', async () => {
    await read('one');
    callers.delete('one');
    assert.equal((await read('one')).status, 401);
    callers.set('one', { ...caller });
    assert.match((await read('one')).text, /text 2/);
  });

  it('are not sent to a request that asks for something else by its query, method or headers', async () => {
    await read('one');
    assert.equal((await read('one', { 'if-none-match': '"2"' })).status, 304);
    await read('one', { prefer: 'handling=strict' });
    await read('one', {}, `${path}?size=2`);
    await read('one', { 'switchyard-min-position': '1' });
    await fetch(service.url + path, { method: 'HEAD', headers: { authorization: 'Bearer one' } });
    assert.equal(made, 6);
  });

  it('are only those that the read models alone decide', async () => {
    for (const _ of [1, 2]) await read('one', {}, `/v1/moving-texts/${widgetId}`);
    assert.equal(made, 2);
  });

  it('do not evade the limit of the bytes of answers in flight', async () => {
    await read('one');
    shortage = 'project';
    await read('one');
    assert.equal(made, 2);
  });
});
