import type { ServerResponse } from 'node:http';
import type { Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { newProjectKey, type ProjectKey, repeat } from './project-key.ts';
import { startProvider } from './provider.ts';

const turns = 150;
const branches = 200;
const charactersOfTurn = 29_000;
const itemsOfBranch = 500;
const continuations = 60;
const inFlight = 4;

let attacker: ProjectKey | null = null;
let last = '';

/**
 * A conversation of 4 MiB that begins as many others do is continued again and again, without memory for turns. The
 * provider is outside of the service, so that what the service itself does is measured.
 */
export default besideOtherTenant({
  title: `${continuations} continuations of ${turns} turns next to ${branches} branches`,
  environment: { RESPONSES_MEMORY_BYTES: '0' },
  maxFreezeMs: 100,
  maxSlowdown: 3,
  surround: () => startProvider({ models: ['m'], speaksResponses: true }, sendAnswer),
  prepare: async (service) => {
    attacker = await newProjectKey(service);
    last = await makeConversation(service, attacker);
  },
  attack: async (service) => {
    const owner = attacker;
    if (owner === null) throw new Error('The service is not prepared');
    await repeat(continuations, inFlight, () =>
      respond(service, owner, { input: 'more', previous_response_id: last, store: false }),
    );
  },
});

let answered = 0;

async function sendAnswer(model: string, response: ServerResponse): Promise<void> {
  answered += 1;
  const id = `resp_${String(answered).padStart(20, '0')}`;
  const content = [{ type: 'output_text', text: 'ok', annotations: [] }];
  const output = [{ type: 'message', id: `msg_${answered}`, role: 'assistant', status: 'completed', content }];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id, object: 'response', status: 'completed', model, output, usage }));
}

async function makeConversation(service: Server, owner: ProjectKey): Promise<string> {
  const root = await respond(service, owner, { input: 'root' });
  let previous = root;
  for (let turn = 0; turn < turns; turn += 1)
    previous = await respond(service, owner, { input: 'x'.repeat(charactersOfTurn), previous_response_id: previous });
  let branch = 0;
  await repeat(branches, inFlight, () => {
    branch += 1;
    const item = (index: number) => ({ role: 'user', content: '', id: `i${branch}_${index}`.padEnd(60, 'n') });
    const input = Array.from({ length: itemsOfBranch }, (_, index) => item(index));
    return respond(service, owner, { input, previous_response_id: root });
  });
  return previous;
}

async function respond({ url }: Server, { key }: ProjectKey, request: object): Promise<string> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...request }),
  });
  if (!answer.ok) throw new Error(`A response was answered with ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
