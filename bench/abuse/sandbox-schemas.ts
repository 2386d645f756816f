import { call } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const requests = 40;
const inFlight = 8;

const many = (count: number, of: unknown) => Array.from({ length: count }, () => of);
const properties = Object.fromEntries(many(4_000, true).map((of, index) => [`p${index}`, of]));

/** A small schema of a huge value, and a schema of about 100 KB of which each alternative is merged and fails. */
const schemas = [
  { type: 'array', minItems: 9_999, items: { type: 'string', minLength: 9_999 } },
  { properties, anyOf: many(5_000, { not: {} }) },
  { properties, allOf: many(3_000, { properties: { p0: true } }) },
  { type: 'array', minItems: 1e9, items: { type: 'integer' } },
];

/** Chats to the sandbox whose JSON schemas demand much more than they take. */
const sandboxSchemas: AbuseScenario = {
  title: `${requests} schemas that demand long work of the sandbox`,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  attack: async (service) => {
    const made = await call(service, 'GET', '/v1/me');
    const { projectId } = (await made.json()) as { projectId: string };
    const created = await call(service, 'POST', `/v1/projects/${projectId}/keys`, { name: 'a', keyType: 'project' });
    const { key } = (await created.json()) as { key: string };
    let next = 0;
    const send = async () => {
      while (next < requests) {
        const schema = schemas[next % schemas.length];
        next += 1;
        await ask(service.url, key, schema, next % 2 === 0 ? 128 : 1);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, send));
    return undefined;
  },
};

async function ask(url: string, key: string, schema: unknown, n: number): Promise<void> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox',
      n,
      messages: [{ role: 'user', content: 'Hello' }],
      response_format: { type: 'json_schema', json_schema: { name: 'greedy', schema } },
    }),
  });
  await answer.arrayBuffer();
  if (answer.status !== 400) throw new Error(`It was answered with ${answer.status}`);
}

export default sandboxSchemas;
