import type { Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { newProjectKey, type ProjectKey, repeat } from './project-key.ts';

const turns = 1_000;
const largeResponses = 20;
const largeText = 'x'.repeat(4_000_000);
const inFlight = 4;

let attacker: ProjectKey | null = null;
let chain: ReadonlyArray<string> = [];

/** A long conversation is deleted from its first to its last turn, and then all that is left is erased. */
export default besideOtherTenant({
  title: `${turns} turns deleted and ${largeResponses} large responses erased`,
  prepare: async (service) => {
    attacker = await newProjectKey(service);
    chain = await makeChain(service, attacker);
    await repeat(largeResponses, inFlight, () => respond(service, attacker as ProjectKey, { input: largeText }));
  },
  attack: async (service) => {
    if (attacker === null) throw new Error('The service is not prepared');
    const { projectId } = attacker;
    for (const id of chain) await send(service, attacker, 'DELETE', `/v1/responses/${id}`);
    await send(service, attacker, 'DELETE', `/v1/projects/${projectId}/responses`);
    await isErased(service, attacker);
  },
});

async function makeChain(service: Server, owner: ProjectKey): Promise<ReadonlyArray<string>> {
  const made: string[] = [];
  while (made.length < turns) {
    const previous = made.at(-1);
    const id = await respond(service, owner, {
      input: 'hi',
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    });
    made.push(id);
  }
  return made;
}

/** @returns the id of the response */
async function respond(service: Server, owner: ProjectKey, request: object): Promise<string> {
  const answer = await send(service, owner, 'POST', '/v1/responses', { model: 'sandbox', ...request });
  const { id, store } = (await answer.json()) as { id: string; store: boolean };
  if (!store) throw new Error('A response was not stored');
  return id;
}

async function isErased(service: Server, owner: ProjectKey): Promise<void> {
  for (;;) {
    const answer = await send(service, owner, 'GET', `/v1/projects/${owner.projectId}/responses`);
    const { bytes } = (await answer.json()) as { bytes: number };
    if (bytes === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function send(
  { url }: Server,
  { key }: ProjectKey,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${await answer.text()}`);
  if (method === 'DELETE') await answer.arrayBuffer();
  return answer;
}
