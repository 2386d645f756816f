import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { here } from './beside/checkout.ts';
import { startSwitchyard } from './gateway-processes/contestants.ts';
import { adminKey, type ServiceServer, startPrintingPort } from './http-processes/processes.ts';
import { format, interleaved, median, print, printResults } from './measure.ts';

const turns = 200;
const rounds = 7;
const callsOfRound = 40;
const asked = 'When are you open, and is there a discount for families with three children?';
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

interface Item {
  readonly id: string;
}

/**
 * `npm run bench -- conversation`: the time of the last turn of a long conversation against that of its tenth, without
 * the time that the provider takes for the same request, on a target of the same protocol and of another one.
 */
export default async function conversation(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-conversation-'));
  const upstream = await startPrintingPort(join(import.meta.dirname, 'gateway-processes/upstream.ts'));
  const own = { kind: 'openai-compatible', responses: true, baseUrl: `${upstream.url}/v1`, apiKeyEnv: 'PROVIDER_KEY' };
  const further = {
    providers: { openai: own },
    models: { native: { targets: [{ provider: 'openai', model: 'gpt' }] } },
  };
  const switchyard = await startSwitchyard(folder, upstream.url, here, {}, further);
  try {
    for (const [name, model, path] of [
      ['the same protocol', 'native', '/v1/responses'],
      ['another protocol', 'bench-model', '/v1/chat/completions'],
    ] as const)
      await measure(name, switchyard, model, upstream.url + path);
  } finally {
    await switchyard.stop();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(name: string, { url }: ServiceServer, model: string, provider: string): Promise<void> {
  const ids: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) ids.push(await send(`${url}/v1/responses`, turnOf(model, ids.at(-1))));
  const after = (turn: number) => ({
    turn: () => send(`${url}/v1/responses`, turnOf(model, ids[turn - 2])),
    provider: () => send(provider, providersTurn(turn)),
  });
  const [tenth, last] = [after(10), after(turns)];
  const contestants = Object.entries({
    tenth: tenth.turn,
    'tenth, provider': tenth.provider,
    last: last.turn,
    'last, provider': last.provider,
  }).map(([each, call]) => ({ name: each, round: () => medianMs(call) }));
  const figures = await interleaved(contestants, rounds);
  for (const [each, figure] of figures) print(`${name}, ${each}: ${format(figure)} ms`);
  const without = (turn: string) => (figures.get(turn) ?? Number.NaN) - (figures.get(`${turn}, provider`) ?? 0);
  printResults([
    {
      what: `turn ${turns} of turn 10, without the provider: ${name}`,
      figure: without('last') / without('tenth'),
      unit: ' ×',
      required: 2,
      aim: 1.2,
    },
  ]);
}

function turnOf(model: string, previous: string | undefined): object {
  return { model, input: asked, ...(previous === undefined ? {} : { previous_response_id: previous }) };
}

/** About as many bytes as the gateway sends. */
function providersTurn(turn: number): object {
  const said = 'The opening hours are from nine to five on weekdays, and from ten to two on Saturdays. '.repeat(4);
  const messages = Array.from({ length: turn }, () => [
    { role: 'user', content: asked },
    { role: 'assistant', content: said },
  ]).flat();
  return { model: 'gpt', messages };
}

async function medianMs(call: () => Promise<string>): Promise<number> {
  const times: number[] = [];
  for (let made = 0; made < callsOfRound; made += 1) {
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  return median(times);
}

async function send(url: string, body: object): Promise<string> {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const item = (await answer.json()) as Item;
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(item)}`);
  return item.id;
}
