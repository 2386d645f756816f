import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Behaviour, bytes, error, json, reset, silence, stream } from '#test/gateway/support/fake-provider.ts';
import { short } from '#test/gateway/support/gateway-of-two.ts';
import { openCall, post } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { type GatewayOfProtocols, price } from './describe-text-protocol.ts';
import type { ProviderSamples, TextProtocol } from './text-protocol.ts';

/** Declares what happens to streams of targets of the client's protocol, and of another one. */
export function describeStreams(own: TextProtocol, foreign: TextProtocol, given: GatewayOfProtocols): void {
  describe('streamed by a target of the same protocol', () =>
    describeStreamsFrom(own, 'native', own.provider, foreign.provider, given));
  describe(`streamed by a target of ${foreign.name}`, () =>
    describeStreamsFrom(own, 'foreign', foreign.provider, own.provider, given));
}

function describeStreamsFrom(
  { client, operation, path }: TextProtocol,
  model: 'native' | 'foreign',
  samples: ProviderSamples,
  otherSamples: ProviderSamples,
  given: GatewayOfProtocols,
): void {
  const isNative = model === 'native';
  const first = () => (isNative ? given.primary : given.backup);
  const other = () => (isNative ? given.backup : given.primary);
  const ask = { model, stream: true, ...client.ask };
  const examined = async (body: string) => {
    await client.examine?.(given.service, body);
    return client.readStream(body);
  };
  const read = async () => examined((await post(given.service, path, ask)).text);
  const complete = (text: string) => ({ text, error: null, isComplete: true });

  const events = samples.events('Once upon');
  const start = events.slice(0, samples.eventsBeforeContent);
  const half = events.slice(0, samples.eventsBeforeContent + 1);
  const good = stream(samples.events('from the first'));
  const together = (...pieces: ReadonlyArray<string>) =>
    bytes(pieces.join(''), { 'content-type': 'text/event-stream' });
  const malformed = 'data: {"cho\n\n';
  const pinging: Behaviour = async (res, seen) => {
    await stream(start.slice(0, 1), { after: 'stall' })(res, seen);
    for (; !res.destroyed; await delay(50)) res.write(samples.ping);
  };

  beforeEach(() => other().answers(stream(otherSamples.events('from the other'))));

  const before: ReadonlyArray<
    readonly [string, ReadonlyArray<Behaviour>, 'first' | 'other', readonly [number, number]]
  > = [
    ['500 once', [error(500, 'x'), good], 'first', [2, 0]],
    ['reset once', [reset, good], 'first', [2, 0]],
    ['silence', [silence], 'other', [1, 1]],
    ['headers and then silence', [stream([], { after: 'stall' })], 'other', [1, 1]],
    ['a beginning and then silence', [stream(start, { after: 'stall' })], 'other', [1, 1]],
    ['pings and never content', [pinging], 'other', [1, 1]],
    ['a beginning and then the end', [stream(start)], 'other', [3, 1]],
    ['nothing but the end', [stream([samples.endMark.event])], 'other', [3, 1]],
    ['an error inside a 200', [stream([...start, samples.errorEvent.event])], 'other', [3, 1]],
    ['a malformed event', [stream([...start, malformed])], 'other', [3, 1]],
    ['JSON instead of a stream', [json(samples.answer('lost'))], 'other', [3, 1]],
    ['content and an error in one piece', [together(...half, samples.errorEvent.event)], 'other', [3, 1]],
    ['content and nonsense in one piece', [together(...half, malformed)], 'other', [3, 1]],
    ['content and the end in one piece', [together(...half)], 'other', [3, 1]],
    ['content and the end’s mark in one piece', [together(...half, samples.endMark.event)], 'other', [3, 1]],
  ];
  for (const [what, behaviours, from, tries] of before)
    it(`serves a stream by another attempt before the first content: ${what}`, async () => {
      if (/silence|never/.test(what)) given.service.configure(given.configuration({}, { timeouts: short }));
      first().answers(...behaviours);
      const answer = await post(given.service, path, ask);
      assert.deepEqual(await examined(answer.text), complete(`from the ${from}`));
      assert.equal(answer.headers.get('x-switchyard-attempts'), String(tries[0] + tries[1]));
      assert.deepEqual([first().seen.length, other().seen.length], tries);
      assert.equal(given.service.records[0]?.outcome, 'served');
    });

  /** What happens, the reason in the record, and the code in the stream where it is another one. */
  const after: ReadonlyArray<readonly [string, (res: ServerResponse) => void, string, (string | null)?]> = [
    ['cut', (res) => res.destroy(), 'provider_reset'],
    ['ended without its finish', (res) => res.end(), 'provider_unfinished'],
    [
      'its mark without its finish',
      (res) => res.end(samples.endMark.event),
      samples.endMark.reason,
      samples.endMark.code,
    ],
    ['stalled', () => undefined, 'provider_timeout'],
    ['malformed', (res) => res.end(malformed + events.slice(half.length).join('')), 'provider_malformed'],
    ['an event without an end', (res) => void res.write(`data: ${'x'.repeat(1_100_000)}`), 'provider_too_large'],
    ['an error', (res) => res.end(samples.errorEvent.event), samples.errorEvent.reason, samples.errorEvent.code],
  ];
  for (const [what, then, reason, code = reason] of after)
    it(`reports a failure after the first content, and never a complete answer: ${what}`, async () => {
      if (what === 'stalled') given.service.configure(given.configuration({}, { timeouts: short }));
      const hasArrived = Promise.withResolvers<void>();
      first().answers(async (res, seen) => {
        await stream(half, { after: 'stall' })(res, seen);
        await hasArrived.promise;
        then(res);
      });
      const call = openCall(given.service, path, ask);
      await eventually(() => call.received().includes('Once '), 'the first content');
      hasArrived.resolve();
      await call.ended;
      const { text, error: failed, isComplete } = await examined(call.received());
      assert.deepEqual([text, isComplete], ['Once ', false]);
      assert.notEqual(failed?.message ?? '', '');
      assert.equal(failed?.code, client.hasErrorCodes ? code : undefined);
      assert.deepEqual([first().seen.length, other().seen.length], [1, 0]);
      const [record] = given.service.records;
      assert.deepEqual([record?.outcome, record?.reason], ['broken-off', reason]);
    });

  if (client.isContinuable)
    it('lets a fallback of the other protocol continue a broken stream from the text so far', async () => {
      given.service.configure(given.configuration({ onStreamFailure: 'continue' }));
      first().answers(stream(half, { after: 'cut' }));
      other().answers(stream(otherSamples.events('a time')));
      assert.deepEqual(await read(), complete('Once a time'));
      assert.match(String(other().seen[0]?.body), /"role":"assistant".*"Once/);
      const [record] = given.service.records;
      assert.deepEqual([record?.outcome, record?.attempts.length], ['served', 2]);
    });

  it('serves a broken stream by another target with onStreamFailure: whole', async () => {
    given.service.configure(given.configuration({ onStreamFailure: 'whole', retries: 0 }));
    first().answers(stream(half, { after: 'cut' }));
    assert.deepEqual(await read(), complete('from the other'));
  });

  if (samples.endsWithoutMark)
    it('completes a stream although the provider leaves out its last mark', async () => {
      for (const after of ['end', 'cut'] as const) {
        first().answers(stream(samples.events('all').slice(0, -1), { after }));
        assert.deepEqual(await read(), complete('all'), after);
      }
    });

  it('records a stream with its usage and cost', async () => {
    first().answers(good);
    assert.deepEqual(await read(), complete('from the first'));
    const { operation: recorded, streamed, tokens, cost } = given.service.records[0] ?? assert.fail('no record');
    assert.deepEqual([recorded, streamed], [operation, true]);
    assert.deepEqual({ input: tokens?.input, output: tokens?.output }, { input: 5, output: 7 });
    assert.equal(cost, (5 * price.inputPerMillion + 7 * price.outputPerMillion) / 1_000_000);
  });

  it('waits for a slow first word of a stream', async () => {
    first().answers(stream(samples.events('slow'), { beforeHeadersMs: 100, beforeFirstMs: 150 }));
    assert.deepEqual(await read(), complete('slow'));
  });

  for (const [what, behaviour, isReady] of [
    ['before the headers', silence, () => first().seen.length === 1],
    ['before the first content', stream(start, { after: 'stall' }), () => first().seen.length === 1],
    ['in the middle', stream(half, { after: 'stall' }), (received: string) => received.includes('Once')],
  ] as const)
    it(`ends the provider’s call when the client of a stream leaves ${what}`, async () => {
      first().answers(behaviour);
      const call = openCall(given.service, path, ask);
      await eventually(() => isReady(call.received()), 'the call');
      call.leave();
      // No timeout of the provider is as short as the test's own.
      await eventually(() => first().seen[0]?.closedAt !== null, 'the end of the call');
      await eventually(() => given.service.records.length === 1, 'the record');
      assert.equal(given.service.records[0]?.outcome, 'client-gone');
      assert.equal(other().seen.length, 0);
    });
}
