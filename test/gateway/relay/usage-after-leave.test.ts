import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { keptCount } from '#exchange/held.ts';
import { chatService, messages } from '#test/gateway/support/chat-service.ts';
import { chunk, done, role, saying, stop, stream, words } from '#test/gateway/support/fake-provider.ts';
import { openChat, post } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const usage = chunk({}, null, { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } });
const chat = { model: 'large', messages, stream: true };

describe('usage of a call whose client leaves after the whole answer', () => {
  const given = chatService({ primary: stream(saying('x')), backup: stream(saying('x')) });
  /** The gateway's responses to its clients. */
  let responses: ServerResponse[];
  let keptBefore: number;
  let keptWhileRead: number;
  const onRequest = (message: unknown) => {
    const { socket, response } = message as { readonly socket: Socket; readonly response: ServerResponse };
    if (socket.localPort === given.service.port) responses.push(response);
  };

  beforeEach(() => {
    responses = [];
    keptBefore = keptCount('usage');
    subscribe('http.server.request.start', onRequest);
  });
  afterEach(() => void unsubscribe('http.server.request.start', onRequest));

  /**
   * Lets the provider send an answer, the client disconnect with it, and the provider send the rest.
   * @param isEnough matches the bytes with which the client disconnects
   */
  const leaveBefore = async (
    rest: (res: ServerResponse) => unknown,
    { answer = role + words('Once').join('') + stop, isEnough = /"finish_reason":"stop"/, model = 'large' } = {},
  ) => {
    const left = Promise.withResolvers<void>();
    given.primary.answers(async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(answer);
      await left.promise;
      rest(res);
    });
    const client = openChat(given.service, { ...chat, model });
    await eventually(() => isEnough.test(client.received()), 'the answer');
    client.leave();
    await eventually(() => responses[0]?.closed === true, 'that the gateway sees that the client has left');
    keptWhileRead = keptCount('usage') - keptBefore;
    left.resolve();
    await eventually(() => given.service.records.length === 1, 'the record');
    await eventually(() => keptCount('usage') === keptBefore, 'that nothing is kept any more');
    return given.service.records[0] ?? assert.fail('no record');
  };

  it('is read from the event that follows, and the provider’s connection is kept', async () => {
    const before = given.primary.connections;
    const record = await leaveBefore((res) => res.end(usage + done));
    assert.deepEqual(record.tokens, { input: 5, output: 7 });
    assert.equal(keptWhileRead, 1);
    assert.equal(record.outcome, 'client-gone');
    assert.notEqual(record.cost, null);
    assert.equal(given.primary.seen[0]?.closedAt, null);
    given.primary.answers(stream(saying('x')));
    await post(given.service, '/v1/chat/completions', chat);
    assert.equal(given.primary.connections - before, 1);
  });

  it('is read when only the gateway requested it', async () => {
    given.service.configure(given.configuration({ askUsage: true }));
    assert.deepEqual((await leaveBefore((res) => res.end(usage + done))).tokens, { input: 5, output: 7 });
  });

  it('is read when nothing follows it', async () => {
    const record = await leaveBefore((res) => void res.write(usage));
    assert.deepEqual(record.tokens, { input: 5, output: 7 });
    await eventually(() => given.primary.seen[0]?.closedAt !== null, 'the end of the provider’s call');
  });

  it('is awaited only for its own timeout, whatever the provider sends meanwhile', async () => {
    let sent = 0;
    const record = await leaveBefore((res) => {
      const timer = setInterval(() => {
        sent += 1;
        res.write(words('more')[0]);
      }, 20);
      res.once('close', () => clearInterval(timer));
    });
    assert.equal(record.tokens, null);
    assert.equal(record.outcome, 'client-gone');
    await eventually(() => given.primary.seen[0]?.closedAt !== null, 'the end of the provider’s call');
    assert.ok(sent > 1);
    assert.equal(given.service.gateway.relayDependencies.breaker.openUntil('primary/gpt-x'), 0);
  });

  it('is not awaited when it has already arrived: the provider’s call ends immediately', async () => {
    const last = stop + usage;
    await leaveBefore(() => undefined, { answer: role + words('Once').join('') + last, isEnough: /prompt_tokens/ });
    await eventually(() => given.primary.seen[0]?.closedAt !== null, 'the end of the provider’s call');
    assert.deepEqual(given.service.records[0]?.tokens, { input: 5, output: 7 });
  });

  it('is not requested from another provider when the first one fails then', async () => {
    const failed = 'data: {"error":{"message":"busy","type":"server_error","code":"overloaded"}}\n\n';
    const record = await leaveBefore((res) => res.end(failed));
    assert.equal(record.outcome, 'client-gone');
    assert.equal(given.backup.seen.length, 0);
  });

  it('is recorded from what is known when the answer breaks before the usage', async () => {
    const record = await leaveBefore((res) => void res.destroy());
    assert.equal(record.tokens, null);
    assert.equal(record.outcome, 'client-gone');
  });
});
