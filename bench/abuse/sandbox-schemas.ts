import { newProjectKey, repeat } from './project-key.ts';
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
    const { key } = await newProjectKey(service);
    await repeat(requests, inFlight, (number) =>
      ask(service.url, key, schemas[number % schemas.length], number % 2 === 0 ? 1 : 128),
    );
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
