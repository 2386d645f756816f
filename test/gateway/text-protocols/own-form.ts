import assert from 'node:assert/strict';
import { bytes, json, stream } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import type { GatewayOfProtocols } from './describe-text-protocol.ts';
import type { TextProtocol } from './text-protocol.ts';

/** Declares what passes as it came, and what the gateway answers by itself in the form of a protocol. */
export function describeOwnForm({ client, provider, path }: TextProtocol, given: GatewayOfProtocols): void {
  const ask = { model: 'native', ...client.ask };
  const noProvider = () => assert.equal(given.primary.seen.length + given.backup.seen.length, 0);

  describe('to a target of the same protocol', () => {
    it('passes the client’s bytes except for the model, and the provider’s bytes back', async () => {
      const visible = { 'content-type': 'application/json; charset=utf-8', 'openai-processing-ms': '7' };
      given.primary.answers(bytes(provider.oddAnswer, { ...visible, 'x-request-id': 'req_1' }));
      const answer = await post(given.service, path + client.query, client.oddRequest('native'));
      assert.deepEqual([answer.status, answer.text], [200, provider.oddAnswer]);
      const [seen] = given.primary.seen;
      assert.equal(seen?.body.toString(), client.oddRequest('own-x'));
      assert.equal(seen.path, provider.path + client.query);
      for (const [name, value] of Object.entries(visible)) assert.equal(answer.headers.get(name), value);
      assert.equal(answer.headers.get('x-switchyard-provider-request-id'), 'req_1');
      assert.notEqual(answer.headers.get(client.requestIdHeader), null);
      assert.equal(answer.headers.get('x-switchyard-target'), 'primary/own-x');
      assert.equal(answer.headers.get('x-switchyard-attempts'), '1');
    });

    it('forwards every byte of a stream, also of unknown events and of characters that are cut', async () => {
      const [first = '', ...rest] = provider.events('Gr\u00fc\u00df \u{1F600}');
      const events = [first, provider.oddEvent, provider.ping, ...rest].join('');
      for (const lineEnd of ['\n', '\r\n']) {
        const whole = Buffer.from(events.replaceAll('\n', lineEnd));
        given.primary.answers(stream([...whole].map((_, index) => whole.subarray(index, index + 1))));
        const answer = await post(given.service, path, { ...ask, ...client.unchanged, stream: true });
        assert.equal(answer.text, whole.toString());
        assert.equal(answer.headers.get('content-type'), 'text/event-stream');
        assert.equal(answer.headers.get('x-accel-buffering'), 'no');
        assert.equal(answer.headers.get('x-switchyard-target'), 'primary/own-x');
      }
    });

    it('sends the provider’s own key, and only the listed headers of the client', async () => {
      const dropped = { ...client.droppedHeaders, 'x-secret': '1', cookie: 'a=b' };
      await post(given.service, path, ask, { ...client.headers, ...dropped });
      const seen = given.primary.seen[0]?.headers ?? {};
      const [name, key] = provider.key;
      assert.equal(seen[name], key);
      for (const [header, value] of Object.entries(client.headers)) assert.equal(seen[header], value, header);
      for (const header of Object.keys(dropped)) assert.equal(seen[header], undefined, header);
      assert.doesNotMatch(JSON.stringify(seen), new RegExp(goodKey));
    });

    it('returns a provider’s refusal byte by byte, with the provider’s id of the request', async () => {
      const refusal = JSON.stringify(provider.error('No.'), null, 1);
      given.primary.answers(bytes(refusal, { 'content-type': 'application/json', 'request-id': 'req_2' }, 400));
      for (const stream of [false, true]) {
        const answer = await post(given.service, path, { ...ask, stream });
        assert.deepEqual([answer.status, answer.text], [400, refusal]);
        assert.match(answer.headers.get('content-type') ?? '', /json/);
        assert.equal(answer.headers.get('x-switchyard-provider-request-id'), 'req_2');
        assert.deepEqual([given.primary.seen.length, given.backup.seen.length], [stream ? 2 : 1, 0]);
      }
    });

    it('removes the operator’s key from a provider’s refusal', async () => {
      given.primary.answers(json(provider.error('Wrong key: provider-secret'), 400));
      const answer = await post(given.service, path, ask);
      assert.equal(answer.status, 400);
      assert.doesNotMatch(answer.text + given.service.logged(), /provider-secret/);
    });
  });

  describe('refusals before a provider is asked', () => {
    for (const { what, body, status, says } of client.refused)
      it(`reports ${what}`, async () => {
        const answer = await post(given.service, path, body);
        assert.equal(answer.status, status, answer.text);
        client.errorOf(answer.json(), answer.headers);
        assert.match(answer.text, says);
        noProvider();
      });

    it('reports another media type', async () => {
      const answer = await post(given.service, path, ask, { 'content-type': 'text/plain' });
      assert.equal(answer.status, 415, answer.text);
      client.errorOf(answer.json(), answer.headers);
      noProvider();
    });

    it('reports a body of too many bytes or values', async () => {
      await given.restart(given.configuration(), { limits: { maxJsonBytes: 2_000, maxJsonValues: 100 } });
      for (const [extra, { status, says }] of [
        ['y'.repeat(3_000), { status: 413, says: client.tooManyBytes }],
        [Array(200).fill({}), client.tooManyValues],
      ] as const) {
        const answer = await post(given.service, path, { ...ask, extra });
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.text, says);
        client.errorOf(answer.json(), answer.headers);
      }
      noProvider();
    });

    it('reports another method', async () => {
      const answer = await fetch(given.service.url + path, { headers: { 'x-api-key': goodKey } });
      assert.equal(answer.status, 405);
      client.errorOf(await answer.json(), answer.headers);
    });

    it('requires a key', async () => {
      const answer = await post(given.service, path, ask, { authorization: 'Bearer wrong' });
      assert.equal(answer.status, 401);
      assert.match(client.errorOf(answer.json(), answer.headers).message, /API key/);
      noProvider();
    });

    it('requires the scope gateway:write', async () => {
      await given.restart(given.configuration(), { caller: { scopes: new Set(['gateway:read']) } });
      const answer = await post(given.service, path, ask);
      assert.equal(answer.status, 403);
      assert.equal(client.errorOf(answer.json(), answer.headers).type, 'permission_error');
      noProvider();
    });
  });
}
