import assert from 'node:assert/strict';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { tokens } from './exchange.ts';
import {
  certainOutcome,
  expectedOutcome,
  expectedReading,
  losesSomething,
  recordedAs,
  withoutState,
} from './expected.ts';
import { type Begin, type MatrixClient, matrixClients } from './matrix-client.ts';
import { type Cell, earlyHeadModel, type Played, play } from './play.ts';
import { chatProvider } from './providers/chat-provider.ts';
import type { Manner, MatrixProvider } from './providers/matrix-provider.ts';
import { messagesProvider } from './providers/messages-provider.ts';
import { responsesProvider } from './providers/responses-provider.ts';
import { rows } from './rows.ts';

const providers: ReadonlyArray<MatrixProvider> = [chatProvider, messagesProvider, responsesProvider];

/** Expects every cell of the matrix. Call it in the callback of `describe`. */
export function expectCells(begin: Begin): void {
  const running = new Map<MatrixProvider, FakeProvider>();
  let service: GatewayService;

  before(async () => {
    for (const provider of providers) running.set(provider, await FakeProvider.start());
    service = await startGateway(configuration(running));
  });
  after(async () => {
    await service.stop();
    await Promise.all(Array.from(running.values(), (each) => each.stop()));
  });

  for (const [client, provider] of pairs())
    describe(`a client of ${client.protocol} at a provider of ${provider.protocol}`, () => {
      for (const cell of cellsOf(client, provider))
        it(`gets ${cell.row.what}, ${cell.isStreamed ? 'streamed' : 'whole'}`, async () => {
          const at = running.get(provider) ?? assert.fail();
          for (const manner of mannersOf(cell)) {
            service.records.length = 0;
            const played = await play(cell, manner, begin, at, service.url);
            check(cell, manner, played);
            await eventually(() => service.records.length === played.outcomes.length, 'the records of all calls');
            checkRecords(service.records, cell);
          }
        });
    });
}

function pairs(): ReadonlyArray<readonly [MatrixClient, MatrixProvider]> {
  return matrixClients.flatMap((client) => providers.map((provider) => [client, provider] as const));
}

function cellsOf(client: MatrixClient, provider: MatrixProvider): ReadonlyArray<Cell> {
  return rows
    .flatMap((row) => [false, true].map((isStreamed) => ({ row, client, provider, isStreamed })))
    .filter((cell) => cell.row.fits?.(cell) ?? true);
}

function configuration(running: ReadonlyMap<MatrixProvider, FakeProvider>): object {
  const all = [...running];
  return {
    providers: Object.fromEntries(
      all.map(([{ protocol, entry }, { baseUrl }]) => [protocol, { ...entry, baseUrl, apiKeyEnv: 'PROVIDER_KEY' }]),
    ),
    models: Object.fromEntries(
      all.flatMap(([provider]) => {
        const model = { targets: [{ provider: provider.protocol, model: 'x', ...provider.target }], retries: 0 };
        return [
          [provider.protocol, model],
          [earlyHeadModel(provider), { ...model, timeouts: { earlyHeadMs: 1 } }],
        ];
      }),
    ),
  };
}

/** An answer of the client's own protocol passes as it came, so only those fit that an SDK reads. */
function mannersOf({ row, client, provider }: Cell): ReadonlyArray<Manner> {
  const script = row.acts.flatMap((act) => (act.kind === 'says' ? [act.said] : []));
  if (script.length === 0) return provider.manners.slice(0, 1);
  const isNative = client.protocol === provider.protocol;
  return provider.manners.filter(({ fits, isForeign }) => fits(script) && !(isForeign && isNative));
}

function check(cell: Cell, manner: Manner, played: Played): void {
  const { row, client, provider } = cell;
  const { refusals, request, ignored, answerId } = played;
  const outcomes = played.outcomes.map(withoutState);
  const from = `from ${manner.name}`;
  assert.deepEqual(refusals, [], `${manner.name} takes the request`);
  assert.deepEqual(
    outcomes.map((outcome, at) => certainOutcome(outcome, row.acts[at], cell, manner.hasIds)),
    row.acts.map((act) => expectedOutcome(act, cell)),
    from,
  );
  if (outcomes.at(-1)?.kind === 'answer') assert.ok(answerId.startsWith(client.idPrefix), answerId);
  assert.deepEqual(provider.read(request), expectedReading(cell, manner, outcomes), `to ${manner.name}`);
  assert.equal(
    ignored.some((names) => names !== ''),
    losesSomething(cell, manner),
    `left out: ${ignored}`,
  );
}

function checkRecords(records: ReadonlyArray<CallRecord>, { row, isStreamed }: Cell): void {
  assert.deepEqual(
    records.map(({ outcome }) => outcome),
    row.acts.map((act) => recordedAs(act, isStreamed)),
  );
  for (const { outcome, tokens: used } of records)
    if (outcome === 'served')
      assert.deepEqual([used?.input, used?.cachedInput, used?.output], [tokens.input, tokens.cached, tokens.output]);
}
