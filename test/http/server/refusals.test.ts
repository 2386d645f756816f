import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'mocha';
import { type FakeService, goodKey, startFakeService, widgetId } from '#test/http/support/fake-service.ts';
import { rawRequest } from '#test/http/support/raw-request.ts';

const json = { 'content-type': 'application/json' };
const withKey = { authorization: `Bearer ${goodKey}` };
const create = `/v1/projects/${widgetId}/widgets`;
const maxBodyBytes = 4_096;

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors?: ReadonlyArray<{ pointer: string; message: string }>;
}

describe('HTTP refusals', () => {
  let service: FakeService;

  before(async () => {
    service = await startFakeService();
  });
  after(() => service.stop());
  beforeEach(() => service.seen.splice(0));

  const send = (method: string, path: string, headers: Record<string, string>, body?: string | Buffer) =>
    fetch(service.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
    });

  async function refused(
    method: string,
    path: string,
    expected: { status: number; code: string },
    { headers = withKey, body }: { headers?: Record<string, string>; body?: string | Buffer } = {},
  ): Promise<Problem> {
    const answer = await send(method, path, headers, body);
    const problem = (await answer.json()) as Problem;
    assert.deepEqual(
      { status: answer.status, type: answer.headers.get('content-type'), code: problem.code },
      { ...expected, type: 'application/problem+json' },
    );
    assert.equal(problem.requestId, answer.headers.get('x-request-id'));
    assert.equal(problem.status, expected.status);
    return problem;
  }

  const refusedBody = (body: string | Buffer, expected: { status: number; code: string }, headers = {}) =>
    refused('POST', create, expected, { headers: { ...withKey, ...json, ...headers }, body });

  describe('authentication of requests', () => {
    for (const [what, headers] of Object.entries({
      'no key': {},
      'another scheme': { authorization: `Basic ${goodKey}` },
      'an empty key': { 'x-api-key': '' },
      'two different keys': { authorization: `Bearer ${goodKey}`, 'x-api-key': 'sy_live_other' },
    }))
      it(`refuses ${what} with 401, even for an unknown path`, async () => {
        for (const path of [create, '/v1/nothing', '/'])
          await refused('POST', path, { status: 401, code: 'key-required' }, { headers, body: 'x' });
      });

    it('says how to send a key that is in the wrong place, and never repeats it', async () => {
      const key = `sy_live_${'k3Y'.repeat(14)}`;
      const bare = await send('GET', '/v1/nothing', { authorization: key });
      const foreign = await send('GET', '/v1/nothing', { 'x-goog-api-key': key });
      const texts = [await bare.text(), await foreign.text()];
      assert.deepEqual([bare.status, foreign.status], [401, 401]);
      assert.match(texts[0] ?? '', /Authorization has a key without its scheme: write Authorization: Bearer <key>/);
      assert.match(texts[1] ?? '', /x-goog-api-key is not read: send the key in x-api-key/);
      for (const text of texts) assert.ok(!text.includes(key));
      const other = await send('GET', '/v1/nothing', { authorization: 'something' });
      assert.match(await other.text(), /Send an API key/);
    });

    for (const fields of [
      `Authorization: Bearer ${goodKey}\r\nAuthorization: Bearer sy_live_other`,
      `authorization: Bearer ${goodKey}\r\nAUTHORIZATION: Bearer ${goodKey}`,
      `x-api-key: ${goodKey}\r\nX-Api-Key: ${goodKey}`,
    ])
      it(`refuses a key field that is there twice with 401: ${fields.split(':')[0]}`, async () => {
        const request = `GET /v1/widgets/${widgetId} HTTP/1.1\r\nHost: x\r\n${fields}\r\nConnection: close\r\n\r\n`;
        const { text } = await rawRequest(Number(new URL(service.url).port), [request]);
        assert.match(text, /^HTTP\/1.1 401 /);
        assert.match(text, /"code":"key-required"/);
      });

    it('sends a challenge with 401, and marks an invalid key in it', async () => {
      const none = await send('GET', '/v1/nothing', {});
      assert.equal(none.headers.get('www-authenticate'), 'Bearer realm="switchyard"');
      const wrong = await send('GET', '/v1/nothing', { 'x-api-key': 'sy_live_wrong' });
      assert.equal(wrong.status, 401);
      assert.equal(wrong.headers.get('www-authenticate'), 'Bearer realm="switchyard", error="invalid_token"');
    });

    it('accepts either header for a key', async () => {
      for (const headers of [
        { 'x-api-key': goodKey },
        withKey,
        { authorization: `bearer  ${goodKey}`, 'x-api-key': goodKey },
      ])
        assert.equal((await send('GET', `/v1/widgets/${widgetId}`, headers)).status, 200);
    });
  });

  describe('paths and methods', () => {
    it('answers an unknown path with 404, and paths that only resemble known ones', async () => {
      for (const path of [
        '/',
        '/v1',
        '/v1/nothing',
        `/v1/widgets/${widgetId}/`,
        `/v1/WIDGETS/${widgetId}`,
        '//v1/widgets',
      ])
        await refused('GET', path, { status: 404, code: 'path-not-found' });
    });

    it('answers an unknown path with an error that clients of both planes can read', async () => {
      for (const [headers, code] of [
        [withKey, 'path_not_found'],
        [{}, 'key_required'],
      ] as const) {
        const answer = await send('POST', '/v1/nothing', headers);
        const { detail, error } = (await answer.json()) as { detail: string; error: Record<string, unknown> };
        assert.equal(error.code, code);
        assert.equal(error.message, detail);
        assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
      }
      const known = await send('PUT', `/v1/widgets/${widgetId}`, withKey);
      assert.equal(((await known.json()) as { error?: unknown }).error, undefined);
    });

    it('answers a wrong method with 405 and the allowed methods', async () => {
      await refused('PUT', `/v1/widgets/${widgetId}`, { status: 405, code: 'method-not-allowed' });
      for (const method of ['OPTIONS', 'PROPFIND']) {
        const answer = await send(method, `/v1/widgets/${widgetId}`, withKey);
        assert.equal(answer.status, 405);
        assert.equal(answer.headers.get('allow'), 'DELETE, GET, HEAD, PATCH');
        assert.equal(answer.headers.get('access-control-allow-origin'), null);
      }
    });

    it('answers a malformed id like an unknown one, without calling the operation', async () => {
      for (const id of ['x', 'c123', 'D3v8k2p90000', '%00', '%zz', 'c..%2f..%2f1'])
        await refused('GET', `/v1/widgets/${id}`, { status: 404, code: 'flow-not-found' });
      await refused('POST', '/v1/projects/7/widgets', { status: 404, code: 'project-not-found' }, { body: '{' });
      assert.equal(service.seen.length, 0);
    });

    it('accepts any text for a path parameter that is not an id', async () => {
      const answer = await send('PUT', `/v1/widgets/${widgetId}/break/rate`, withKey);
      assert.equal(answer.status, 429);
      assert.equal(answer.headers.get('retry-after'), '9');
    });

    it('passes on the 404 and the 403 of an operation', async () => {
      await refused('GET', '/v1/widgets/cabsent00', { status: 404, code: 'flow-not-found' });
      await refused('GET', '/v1/widgets/cforeign0', { status: 403, code: 'scope-required' });
    });
  });

  describe('media type of a body', () => {
    const good = JSON.stringify({ name: 'cog', shape: {} });

    it('refuses any body but uncompressed UTF-8 JSON with 415', async () => {
      const expected = { status: 415, code: 'unsupported-media-type' };
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonx',
        'json',
        'application/json; charset=latin1',
      ])
        await refusedBody(good, expected, { 'content-type': type });
      await refusedBody(good, expected, { 'content-encoding': 'gzip' });
    });

    it('accepts every JSON media type', async () => {
      for (const type of [
        'application/json',
        'Application/JSON;charset="UTF-8"',
        'application/merge-patch+json; charset=utf8',
      ])
        assert.equal((await send('POST', create, { ...withKey, 'content-type': type }, good)).status, 201, type);
    });

    it('checks the media type before the size', async () => {
      await refusedBody(
        'x'.repeat(maxBodyBytes + 1),
        { status: 415, code: 'unsupported-media-type' },
        { 'content-type': 'text/plain' },
      );
    });

    it('ignores the media type of an empty body', async () => {
      assert.equal((await send('POST', `/v1/widgets/${widgetId}/activate`, withKey)).status, 200);
      assert.equal((await send('PATCH', `/v1/widgets/${widgetId}`, withKey)).status, 200);
      const problem = await refused('POST', create, { status: 422, code: 'invalid-input' });
      assert.deepEqual(
        problem.errors?.map((error) => error.pointer),
        ['/name', '/shape'],
      );
    });
  });

  describe('size of a body', () => {
    const ofSize = (bytes: number) => {
      const frame = JSON.stringify({ name: 'cog', shape: { t: '' } });
      return JSON.stringify({ name: 'cog', shape: { t: 'x'.repeat(bytes - frame.length) } });
    };

    it('accepts a body of the maximum size, and refuses one byte more with 413', async () => {
      assert.equal((await send('POST', create, { ...withKey, ...json }, ofSize(maxBodyBytes))).status, 201);
      await refusedBody(ofSize(maxBodyBytes + 1), { status: 413, code: 'body-too-large' });
    });

    it('counts the bytes of a body without a length as they arrive', async () => {
      const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
      const head = `POST ${create} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const { text, closed } = await rawRequest(service.port, [head, chunk.repeat(3), chunk.repeat(3)]);
      assert.match(text, /^HTTP\/1\.1 413 /);
      assert.match(text, /Connection: close/);
      assert.ok(closed);
    });

    it('lets a client that sends 10 MB read the refusal', async () => {
      const problem = await refusedBody('x'.repeat(10_000_000), { status: 413, code: 'body-too-large' });
      assert.match(problem.detail, /4096/);
    });

    it('checks key and size before it asks for a body with 100 Continue', async () => {
      const head = (length: number, key: string) =>
        `POST ${create} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
      const large = await rawRequest(service.port, [head(1_000_000, goodKey)], (text) =>
        text.includes('body-too-large'),
      );
      assert.match(large.text, /^HTTP\/1\.1 413 /);
      const stranger = await rawRequest(service.port, [head(10, 'sy_live_wrong')], (text) =>
        text.includes('key-invalid'),
      );
      assert.match(stranger.text, /^HTTP\/1\.1 401 /);
      const body = JSON.stringify({ name: 'cog', shape: {} });
      const fitting = await rawRequest(service.port, [head(body.length, goodKey), body], (text) =>
        text.includes('201'),
      );
      assert.match(fitting.text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    });
  });

  describe('JSON body', () => {
    it('refuses malformed JSON with 400, and names line and column', async () => {
      const problem = await refusedBody('{"name": "a",\n "shape" {}}', { status: 400, code: 'malformed-json' });
      assert.match(problem.detail, /line 2, column 10/);
      const marked = await refusedBody('\ufeff{}', { status: 400, code: 'malformed-json' });
      assert.match(marked.detail, /begins with a byte order mark/);
      const empty = await refusedBody(' \n', { status: 400, code: 'malformed-json' });
      assert.match(empty.detail, /it is empty/);
      for (const body of ['{', 'null}', "{'a': 1}", '\ufeff{}', '{"a":1}x', 'NaN'])
        await refusedBody(body, { status: 400, code: 'malformed-json' });
    });

    it('refuses JSON that is not UTF-8 with 400', async () => {
      for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]])
        await refusedBody(Buffer.from([...Buffer.from('{"name":"'), ...bytes, ...Buffer.from('"}')]), {
          status: 400,
          code: 'invalid-encoding',
        });
    });

    it('accepts 256 levels of nesting, and refuses 257', async () => {
      const nested = (levels: number) =>
        `{"name":"cog","shape":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;
      assert.equal((await send('POST', create, { ...withKey, ...json }, nested(256))).status, 201);
      await refusedBody(nested(257), { status: 422, code: 'nesting-too-deep' });
      await refusedBody('['.repeat(4_000), { status: 422, code: 'nesting-too-deep' });
    });

    it('accepts the maximum number of values, and points at the first value beyond it', async () => {
      const body = (values: number) => `{"name":"cog","shape":{"a/b":[${Array(values).fill('{}').join(',')}]}}`;
      assert.equal((await send('POST', create, { ...withKey, ...json }, body(996))).status, 201);
      const problem = await refusedBody(body(997), { status: 422, code: 'too-many-values' });
      assert.deepEqual(
        problem.errors?.map((error) => error.pointer),
        ['/shape/a~1b/996'],
      );
    });

    it('refuses an integer that JSON gives back with other digits, and accepts what it has answered', async () => {
      const body = (number: string) => `{"name":"cog","shape":{"a":[${number}]}}`;
      for (const path of [create, `${create}?dryRun=true`]) {
        const answer = await send('POST', path, { ...withKey, ...json }, body('9007199254740993'));
        const problem = (await answer.json()) as Problem;
        assert.deepEqual([answer.status, problem.code], [422, 'number-not-exact']);
        assert.deepEqual(
          problem.errors?.map((error) => error.pointer),
          ['/shape/a/0'],
        );
      }
      for (const number of ['12345678901234567000', '1e3', '1.0', '0.1234567890123456789'])
        assert.equal((await send('POST', create, { ...withKey, ...json }, body(number))).status, 201, number);
    });

    it('limits a JSON pointer to 1,000 characters, however long the names are', async () => {
      const name = 'n'.repeat(1_500);
      const problem = await refusedBody(`{"name":"cog","shape":{"a":{"${name}":"\\ud800"}}}`, {
        status: 422,
        code: 'invalid-input',
      });
      assert.deepEqual(
        problem.errors?.map((error) => error.pointer),
        ['/shape/a'],
      );
    });

    it('ignores brackets in texts when it counts levels', async () => {
      const body = JSON.stringify({ name: 'cog', shape: { a: `\\"${'['.repeat(300)}\\`, b: '{"' } });
      assert.equal((await send('POST', create, { ...withKey, ...json }, body)).status, 201);
    });

    it('refuses JSON that is not an object with 422', async () => {
      for (const body of ['[]', '"a"', '1', 'null', 'true']) {
        const problem = await refusedBody(body, { status: 422, code: 'invalid-input' });
        assert.deepEqual(problem.errors, [{ pointer: '', message: 'must be a JSON object' }]);
      }
    });

    it('refuses numbers beyond a double and lone surrogates with 422', async () => {
      const problem = await refusedBody('{"name":"cog","shape":{"a/b":[1e999,"\\ud800"],"c":1e308}}', {
        status: 422,
        code: 'invalid-input',
      });
      assert.deepEqual(
        problem.errors?.map((error) => error.pointer),
        ['/shape/a~1b/0', '/shape/a~1b/1'],
      );
      for (const number of [`-${'9'.repeat(400)}`, `${'9'.repeat(210)}e99`]) {
        await refusedBody(`{"name":"cog","shape":{"a":${number}}}`, { status: 422, code: 'invalid-input' });
      }
      const pair = await send('POST', create, { ...withKey, ...json }, '{"name":"cog","shape":{"a":"\\ud83d\\ude00"}}');
      assert.equal(pair.status, 201);
    });

    it('accepts __proto__ as an ordinary member', async () => {
      const body =
        '{"name":"cog","shape":{"__proto__":{"x":1}},"__proto__":{"colour":"much too long"},"hasOwnProperty":1,"parts":[{"size":1,"__proto__":2}]}';
      const answer = await send('POST', create, { ...withKey, ...json }, body);
      assert.equal(answer.status, 201);
      const text = await answer.text();
      assert.match(text, /"shape":\{"__proto__":\{"x":1\}\}/);
      assert.doesNotMatch(text, /colour/);
      assert.equal(({} as Record<string, unknown>).x, undefined);
    });

    it('lists every invalid member once, with its pointer', async () => {
      const body = '{"name":"","colour":5,"finish":"dull","parts":[{"size":1},{"size":"2"},{}],"shape":[]}';
      const problem = await refusedBody(body, { status: 422, code: 'invalid-input' });
      assert.deepEqual(problem.errors, [
        { pointer: '/name', message: 'must have at least 1 character' },
        { pointer: '/shape', message: 'must be an object' },
        { pointer: '/colour', message: 'must be a string or null' },
        { pointer: '/finish', message: 'must be one of "matt", "gloss"' },
        { pointer: '/parts/1/size', message: 'must be a number' },
        { pointer: '/parts/2/size', message: 'is required' },
      ]);
    });

    it('ignores a body member named like a path parameter', async () => {
      const other = 'cother00000';
      const answer = await send(
        'POST',
        create,
        { ...withKey, ...json },
        JSON.stringify({ projectId: other, name: 'a', shape: {} }),
      );
      assert.equal(((await answer.json()) as { projectId: string }).projectId, widgetId);
    });
  });

  describe('query of a request', () => {
    it('reads the input of a GET from the query, and ignores unknown parameters', async () => {
      assert.equal((await send('GET', `${create}?limit=10&unknown=1&unknown=2`, withKey)).status, 200);
      const problem = await refused('GET', `${create}?limit=0`, { status: 422, code: 'invalid-input' });
      assert.equal(problem.errors?.[0]?.pointer, '/limit');
    });

    it('refuses a query parameter that is given twice', async () => {
      const problem = await refused('GET', `${create}?limit=1&limit=2`, { status: 422, code: 'invalid-input' });
      assert.deepEqual(problem.errors, [{ pointer: '/limit', parameter: 'limit', message: 'must be given once' }]);
    });
  });

  describe('request headers', () => {
    const rename = (headers: Record<string, string>) =>
      send('PATCH', `/v1/widgets/${widgetId}`, { ...withKey, ...json, ...headers }, '{"name":"a"}');

    it('matches If-Match only with the strong tag of the revision', async () => {
      for (const tag of ['"3"', '*', ' "3" ', 'W/"1", "3"'])
        assert.equal((await rename({ 'if-match': tag })).status, 200, tag);
      for (const tag of ['"2"', 'W/"3"', '3', '"x"', '', '"3"x', '"2", "3"', '""'])
        assert.equal((await rename({ 'if-match': tag })).status, 412, tag);
    });

    it('accepts an Idempotency-Key of 1 to 255 printable characters', async () => {
      assert.equal((await rename({ 'idempotency-key': 'k'.repeat(255) })).status, 200);
      assert.equal(service.seen.at(-1)?.idempotencyKey, 'k'.repeat(255));
      assert.equal((await rename({ 'idempotency-key': ' order 12: "new" ' })).status, 200);
      assert.equal(service.seen.at(-1)?.idempotencyKey, 'order 12: "new"');
      for (const key of ['', 'k'.repeat(256), ' ', 'a\tb', 'caf\u00e9'])
        assert.equal((await rename({ 'idempotency-key': key })).status, 422, key);
    });

    it('accepts only digits in Switchyard-Min-Position', async () => {
      const read = (position: string) =>
        send('GET', `/v1/widgets/${widgetId}`, { ...withKey, 'switchyard-min-position': position });
      assert.equal((await read('12')).status, 200);
      assert.equal(service.seen.at(-1)?.minPosition, 12);
      for (const position of ['-1', 'x', '1.5', '']) assert.equal((await read(position)).status, 422, position);
    });

    it('keeps a well-formed X-Request-Id, and replaces any other', async () => {
      const idFor = async (id: string) =>
        (await send('GET', `/v1/widgets/${widgetId}`, { ...withKey, 'x-request-id': id })).headers.get('x-request-id');
      assert.equal(await idFor('a.B-9_'), 'a.B-9_');
      assert.equal(await idFor('a'.repeat(128)), 'a'.repeat(128));
      for (const id of ['', 'a b', 'a'.repeat(129), 'a"b']) assert.match((await idFor(id)) ?? '', /^[0-9a-f-]{36}$/);
    });
  });

  describe('internal errors', () => {
    it('answers an internal error with 500, and logs its cause without sending it', async () => {
      const problem = await refused('PUT', `/v1/widgets/${widgetId}/break/bug`, {
        status: 500,
        code: 'internal-error',
      });
      assert.doesNotMatch(JSON.stringify(problem), /secret inside|at /);
      assert.match(service.logged(), new RegExp(`${problem.requestId}.*secret inside`));
    });

    it('answers 503 with Retry-After when a store is unavailable', async () => {
      const answer = await send('PUT', `/v1/widgets/${widgetId}/break/unavailable`, withKey);
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3']);
    });
  });

  describe('refusals of gateway operations', () => {
    const complete = (headers: Record<string, string>, body: string, method = 'POST') =>
      send(method, '/v1/chat/completions', headers, method === 'POST' ? body : undefined);

    it('answers invalid input with an OpenAI error and a detail list', async () => {
      const answer = await complete({ ...withKey, ...json }, '{"messages":[{"role":1}]}');
      assert.equal(answer.status, 422);
      assert.equal(answer.headers.get('content-type'), 'application/json');
      assert.deepEqual(await answer.json(), {
        detail: [
          { loc: ['body', 'model'], msg: 'is required', type: 'missing' },
          { loc: ['body', 'messages', 0, 'role'], msg: 'must be a string', type: 'value_error' },
        ],
        error: {
          message: '/model is required; /messages/0/role must be a string.',
          type: 'invalid_request_error',
          param: 'model',
          code: 'invalid_input',
        },
      });
    });

    it('points at the first value beyond the maximum number in a gateway request', async () => {
      const answer = await complete({ ...withKey, ...json }, `{"messages":[${Array(1_000).fill('{}').join(',')}]}`);
      assert.equal(answer.status, 422);
      const message = 'is beyond the limit of 1000 values';
      const { detail, error } = (await answer.json()) as { detail: unknown; error: Record<string, unknown> };
      assert.deepEqual(detail, [{ loc: ['body', 'messages', 998], msg: message, type: 'value_error' }]);
      assert.deepEqual([error.code, error.param], ['too_many_values', 'messages[998]']);
    });

    it('answers every refusal of a gateway operation with an OpenAI error', async () => {
      for (const [answer, status, type] of [
        [await complete({}, '{}'), 401, 'authentication_error'],
        [await complete(withKey, '', 'GET'), 405, 'invalid_request_error'],
        [await complete(withKey, '{}'), 415, 'invalid_request_error'],
        [await complete({ ...withKey, ...json }, '{'), 422, 'invalid_request_error'],
        [await complete({ ...withKey, ...json }, `{"a":"${'a'.repeat(maxBodyBytes)}"}`), 413, 'invalid_request_error'],
      ] as const) {
        assert.equal(answer.status, status);
        const { error } = (await answer.json()) as { error: Record<string, unknown> };
        assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
        assert.equal(error.type, type);
      }
    });
  });
});
