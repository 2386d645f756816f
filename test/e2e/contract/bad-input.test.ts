import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { composedService } from '#test/e2e/support/running-service.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

const json = { 'content-type': 'application/json' };

describeOnEngines('invalid input over HTTP', (engines) => {
  // A service of its own: the tests compare the ends of the whole log.
  const running = composedService(engines);
  let client: Client;
  let flowsPath: string;
  let flow: FlowRecord;
  let eventsBefore: string;

  before(async () => {
    client = running.client;
    const { id } = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Project' }), 201);
    flowsPath = `/v1/projects/${id}/flows`;
    flow = expectStatus(await client.post<FlowRecord>(flowsPath, { name: 'Flow', flowSchema: 1 }), 201);
  });

  beforeEach(async () => {
    eventsBefore = await lastPosition();
  });

  /** Returns the position of the last event, which grows with every append. */
  const lastPosition = async () => {
    // Whatever its status: read models may be behind for a moment.
    const { checks } = (await client.get<{ checks: Array<{ name: string; detail: string }> }>('/readyz')).body;
    const detail = checks.find(({ name }) => name === 'event-store')?.detail ?? '';
    assert.match(detail, /^at position \d+$/);
    return detail;
  };
  const expectUnchanged = async () => {
    assert.equal(await lastPosition(), eventsBefore, 'an event was stored');
    assert.deepEqual(expectStatus(await client.get(`/v1/flows/${flow.id}`), 200), flow);
  };
  const post = (body: string | Buffer | Readable, headers: Record<string, string> = json) =>
    client.send({ method: 'POST', path: flowsPath, headers, body });
  const withSchema = (schema: string) => `{"name":"Deep","flowSchema":${schema}}`;
  const schemaOf = async (id: string) => {
    type Versions = { versions: FlowVersionRecord[] };
    const { versions } = expectStatus(await client.get<Versions>(`/v1/flows/${id}/versions`), 200);
    return versions[0]?.flowSchema;
  };

  it('refuses a body that is not JSON with 400', async () => {
    for (const body of [
      '{',
      '{"name":"x",}',
      "{'name':1}",
      '{"name":"x","flowSchema":1}}',
      'name=x',
      'NaN',
      '{"name":"x","flowSchema":NaN}',
      '{"name":"x","flowSchema":01}',
      '{"name":"x\ny","flowSchema":1}',
      '\u0000',
      '\ufeff{"name":"x","flowSchema":',
      '"',
      '[[[',
    ]) {
      expectProblem(await post(body), 400, 'malformed-json');
    }
    await expectUnchanged();
  });

  it('refuses a body that is not UTF-8 with 400', async () => {
    for (const bytes of [
      [0xff],
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
    ]) {
      const body = Buffer.concat([Buffer.from('{"flowSchema":1,"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expectProblem(await post(body), 400, 'invalid-encoding');
    }
    expectProblem(await post(Buffer.from(withSchema('1'), 'utf16le')), 400, 'malformed-json');
    await expectUnchanged();
  });

  it('refuses a body of another media type than JSON with 415', async () => {
    for (const headers of [
      {},
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'multipart/form-data; boundary=x' },
      { 'content-type': 'application/json; charset=latin1' },
      { ...json, 'content-encoding': 'gzip' },
    ] as ReadonlyArray<Record<string, string>>) {
      expectProblem(await post(withSchema('1'), headers), 415, 'unsupported-media-type');
    }
    await expectUnchanged();
    expectStatus(await post(withSchema('1'), { 'content-type': 'application/json; charset=utf-8' }), 201);
  });

  it('refuses a body that is not an object with 422', async () => {
    for (const body of ['null', '[]', '"text"', '1', 'true', '[{"name":"x","flowSchema":1}]']) {
      expectProblem(await post(body), 422, 'invalid-input', ['']);
    }
    await expectUnchanged();
  });

  it('accepts a body of 256 levels and returns it unchanged, and refuses a deeper one with 422', async () => {
    const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
    const over = [nested(256, '[', ']'), nested(300, '{"a":', '}').replace(':}', ':1}'), nested(300_000, '[', ']')];
    for (const schema of over) expectProblem(await post(withSchema(schema)), 422, 'nesting-too-deep');
    expectProblem(await post('['.repeat(500_000)), 422, 'nesting-too-deep');
    await expectUnchanged();
    const schema = nested(255, '[', ']');
    const { id } = expectStatus(await post(withSchema(schema)), 201);
    assert.equal(JSON.stringify(await schemaOf(String(id))), schema);
    expectStatus(await post(withSchema(JSON.stringify('['.repeat(1_000)))), 201);
  });

  it('refuses a body beyond the size limit with 413, with or without a Content-Length, even by one byte', async () => {
    const exactly = (bytes: number) => withSchema(`"${'x'.repeat(bytes - withSchema('""').length)}"`);
    const large = exactly(10 * 1024 * 1024);
    expectProblem(await post(large), 413, 'body-too-large');
    expectProblem(await post(Readable.from([large.slice(0, 100_000), large.slice(100_000)])), 413, 'body-too-large');
    expectProblem(await post(exactly(768 * 1024 + 1)), 413, 'body-too-large');
    await expectUnchanged();
    expectStatus(await post(exactly(768 * 1024)), 201);
    expectStatus(await post(Readable.from(['{"name":"In parts",', '"flowSchema":1}'])), 201);
  });

  it('refuses a body that grows beyond the limit of an append with 413', async () => {
    // Five bytes of the request take 22 bytes in the store.
    const schema = `[${'1e20,'.repeat(49_000)}0]`;
    expectProblem(await post(withSchema(schema)), 413, 'append-too-large');
    await expectUnchanged();
  });

  it('stores members that are named like those of Object.prototype where they are allowed, and ignores them elsewhere', async () => {
    const hostile = '{"__proto__":{"polluted":true,"tier":"pro"},"constructor":{"prototype":{"polluted":true}}}';
    const { id } = expectStatus(await post(withSchema(hostile)), 201);
    assert.equal(JSON.stringify(await schemaOf(String(id))), hostile);
    const version = expectStatus(
      await client.send({
        method: 'POST',
        path: `/v1/flows/${id}/versions`,
        headers: json,
        body: `{"flowSchema":${hostile}}`,
      }),
      201,
    );
    assert.equal(JSON.stringify(version.flowSchema), hostile);
    const outside = '{"__proto__":{"name":"x","flowSchema":1},"constructor":1,"hasOwnProperty":2,"toString":3}';
    expectProblem(await post(outside), 422, 'invalid-input', ['/name', '/flowSchema']);
    const number = `{"name":"n","number":"line proto","externalPhoneFields":${hostile}}`;
    const path = flowsPath.replace('/flows', '/phone-numbers');
    const made = await client.send({ method: 'POST', path, headers: json, body: number });
    expectStatus(made, 201);
    assert.ok(made.text.includes(`"externalPhoneFields":${hostile}`));
    const read = await client.get(`/v1/phone-numbers/${made.body.id}`);
    assert.ok(read.text.includes(`"externalPhoneFields":${hostile}`));
    const proto = expectStatus(
      await client.send({ method: 'PATCH', path: `/v1/flows/${id}`, headers: json, body: hostile }),
      200,
    );
    assert.equal(proto.tier, 'standard');
    assert.equal(proto.polluted, undefined);
  });

  it('refuses numbers that no double can hold with 422, and stores those that one can hold', async () => {
    for (const number of ['1e999', '-1e999', `1${'0'.repeat(400)}`]) {
      expectProblem(await post(withSchema(number)), 422, 'invalid-input', ['/flowSchema']);
      expectProblem(await post(withSchema(`{"a":[${number}]}`)), 422, 'invalid-input', ['/flowSchema/a/0']);
    }
    await expectUnchanged();
    for (const number of [1e308, -1e-300, 2 ** 53, 0.1, 1e21, -0]) {
      const { id } = expectStatus(await client.post(flowsPath, { name: 'N', flowSchema: number }), 201);
      assert.equal(await schemaOf(String(id)), number + 0);
    }
    const limit = `${flowsPath}?limit=${'9'.repeat(400)}`;
    expectProblem(await client.get(limit), 422, 'invalid-input', ['/limit']);
  });

  it('refuses an unpaired surrogate with 422', async () => {
    for (const text of ['"\\ud83d"', '"\\udc00x"', '{"a":"\\ud83d\\ud83d"}']) {
      const reply = await post(withSchema(text));
      assert.equal(reply.status, 422, reply.text);
    }
    expectProblem(await post('{"name":"\\ud83d","flowSchema":1}'), 422, 'invalid-input', ['/name']);
    await expectUnchanged();
    const { id } = expectStatus(await post(withSchema('"\\ud83d\\ude00"')), 201);
    assert.equal(await schemaOf(String(id)), '😀');
  });

  it('reports the pointers of all members of a wrong type, at most 100', async () => {
    const path = flowsPath.replace('/flows', '/agent-profiles');
    const flowIds = Array.from({ length: 5_000 }, (_, index) => index);
    const reply = await client.post<{ errors: unknown[] }>(path, { flowIds });
    assert.equal(reply.status, 422);
    assert.ok(reply.body.errors.length > 5 && reply.body.errors.length <= 100);
    await expectUnchanged();
  });

  it('stores control characters, zeros and every script in a text unchanged', async () => {
    for (const name of [
      '\u0000',
      'a\u0000b',
      '\u001b[31m',
      '\u202e‮',
      'ﷺ',
      '\u007f',
      '\ufeff',
      '"\\',
      "'; DROP TABLE events; --",
    ]) {
      const made = expectStatus(await client.post<FlowRecord>(flowsPath, { name, flowSchema: { [name]: name } }), 201);
      assert.equal(made.name, name);
      assert.deepEqual(expectStatus(await client.get(`/v1/flows/${made.id}`), 200), made);
      assert.deepEqual(await schemaOf(made.id), { [name]: name });
    }
  });

  it('refuses invalid paths, queries and headers with a problem', async () => {
    for (const path of [
      '/v1/flows/%',
      '/v1/flows/%ff',
      '/v1/flows/%2e%2e',
      '/v1/flows/..%2f..%2fetc',
      '/v1//flows',
      '/%00',
    ]) {
      const reply = await client.get(path);
      assert.ok([400, 404].includes(reply.status), `${path}: ${reply.status} ${reply.text}`);
    }
    const long = await client.get(`/v1/flows/${'c'.repeat(8_000)}`);
    assert.equal(long.status, 404);
    const headers = await client.get('/v1/me', { 'x-long': 'x'.repeat(40_000) });
    assert.equal(headers.status, 431);
    expectStatus(await client.get('/v1/me'), 200);
    await expectUnchanged();
  });
});
