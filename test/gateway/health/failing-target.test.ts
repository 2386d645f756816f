import assert from 'node:assert/strict';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { completion, error, json, role, saying, stream, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const linesOf = (service: GatewayService): ReadonlyArray<Line> =>
  service
    .logged()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const get = (service: GatewayService, of: string) =>
  fetch(service.url + of, { headers: { authorization: `Bearer ${goodKey}` } });

describe('a target that fails while its fallback serves', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: json(completion('from the backup')) });
  const call = (headers: Record<string, string> = {}) =>
    post(given.service, path, { model: 'large', messages }, headers);
  /** Six attempts: five open the circuit. */
  const callTwice = async () => {
    for (const requestId of ['call-1', 'call-2']) assert.equal((await call({ 'x-request-id': requestId })).status, 200);
  };

  it('causes a warning for its failure and for its open circuit', async () => {
    await callTwice();
    const warnings = linesOf(given.service).filter(({ level }) => level === 'warn');
    assert.deepEqual(
      warnings.map(({ time, ...line }) => line),
      [
        {
          level: 'warn',
          provider: 'primary',
          model: 'gpt-x',
          target: 'primary/gpt-x',
          code: 'server_error',
          status: 500,
          requestId: 'call-1',
          msg: 'an attempt at a target failed',
        },
        {
          level: 'warn',
          provider: 'primary',
          model: 'gpt-x',
          target: 'primary/gpt-x',
          code: 'server_error',
          status: 500,
          requestId: 'call-2',
          circuit: 'open',
          msg: 'the circuit of a target is open: it gets no calls for a while',
        },
      ],
    );
  });

  it('causes one line with the number of omitted warnings at the close of the gateway', async () => {
    await callTwice();
    const closing = given.service;
    await given.restart(given.configuration(), {});
    const [last] = linesOf(closing).slice(-1);
    assert.deepEqual([last?.msg, last?.repeated, last?.requestId], ['an attempt at a target failed', 4, 'call-2']);
  });

  it('is counted in metrics by target, outcome and error, and shown with an open circuit', async () => {
    await callTwice();
    const text = await (await get(given.service, '/metrics')).text();
    for (const line of [
      'switchyard_gateway_attempts_total{target="primary/gpt-x",outcome="failed",error_type="server_error"} 5',
      'switchyard_gateway_attempts_total{target="backup/other-y",outcome="served",error_type=""} 2',
      'switchyard_gateway_circuit_open{target="primary/gpt-x"} 1',
      'switchyard_gateway_circuit_open{target="backup/other-y"} 0',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  });

  it('is logged as half-open and closed when it recovers', async () => {
    await callTwice();
    given.primary.answers(json(completion('from the primary')));
    given.service.letCircuitsWait(3_000);
    assert.equal((await call({ 'x-request-id': 'call-3' })).headers.get('x-switchyard-target'), 'primary/gpt-x');
    const circuits = linesOf(given.service).filter(({ circuit }) => circuit !== undefined);
    assert.deepEqual(
      circuits.map(({ circuit, requestId }) => [circuit, requestId]),
      [
        ['open', 'call-2'],
        ['half-open', 'call-3'],
        ['closed', 'call-3'],
      ],
    );
  });

  it('is counted with a failed attempt for a broken stream', async () => {
    given.primary.answers(stream([role, ...words('half')], { after: 'cut' }));
    await post(given.service, path, { model: 'alone', messages, stream: true });
    const text = await (await get(given.service, '/metrics')).text();
    assert.match(text, /attempts_total{target="primary\/gpt-x",outcome="failed",error_type="provider_reset"} 1\n/);
  });

  it('is counted with a refusal, not a failure, for a refused request', async () => {
    given.primary.answers(error(400, 'bad_value'));
    assert.equal((await call()).status, 400);
    const text = await (await get(given.service, '/metrics')).text();
    assert.match(text, /attempts_total{target="primary\/gpt-x",outcome="refused",error_type="bad_value"} 1\n/);
  });
});

describe('the health of targets', () => {
  const given = chatService({ primary: error(500, 'server_error'), backup: stream(saying('hello')) });
  it('lists each target with its circuit, its attempts and its last failure', async () => {
    const { service } = given;
    for (let time = 0; time < 2; time += 1)
      await post(service, path, { model: 'large', messages, stream: true }, { 'x-request-id': `call-${time}` });
    const { node, windowSeconds, targets } = service.gateway.health();
    assert.deepEqual([node, windowSeconds], ['node-1', 300]);
    assert.deepEqual(
      targets.map(({ target }) => target),
      ['primary/gpt-x', 'backup/other-y', 'backup/s'],
    );
    const [primary, backup, unused] = targets;
    const { lastFailure, ...rest } = primary ?? {};
    assert.deepEqual(rest, {
      target: 'primary/gpt-x',
      provider: 'primary',
      model: 'gpt-x',
      servesModels: ['large', 'alone'],
      circuit: 'open',
      attempts: { served: 0, refused: 0, failed: 5, abandoned: 0 },
      successRate: 0,
      p50Ms: null,
      p95Ms: null,
      isKeyRefused: false,
    });
    const { time, ...failure } = lastFailure as Record<string, unknown>;
    assert.deepEqual(failure, { code: 'server_error', status: 500, requestId: 'call-1' });
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual([backup?.circuit, backup?.successRate, backup?.lastFailure], ['closed', 1, null]);
    assert.ok((backup?.p50Ms as number) > 0 && (backup?.p95Ms as number) >= (backup?.p50Ms as number));
    assert.equal(unused?.successRate, null);
  });
});
