import { adminKey, type Server } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
const schemaBytes = 650 * 1024;
const schemaValues = 40_000;
const versions = 10;
const requests = 20;
let list = '';

/** A list of ten versions of 650 KiB, requested by twenty clients at the same time. */
const largeLists: AbuseScenario = {
  title: `${requests} GETs of a list of 6.5 MB at the same time`,
  maxFreezeMs: 300,
  prepare: async ({ url }) => {
    const { projectId } = await call(url, 'GET', '/v1/me');
    // The maximum number of small values, because these cost the most to parse.
    const flowSchema = Array.from({ length: schemaValues }, () => 'x'.repeat(schemaBytes / schemaValues));
    const { id } = await call(url, 'POST', `/v1/projects/${projectId}/flows`, { name: 'Large', flowSchema });
    list = `/v1/flows/${id}/versions`;
    for (let number = 1; number < versions; number += 1) await call(url, 'POST', list, { flowSchema });
  },
  attack: async ({ url }) => {
    await Promise.all(Array.from({ length: requests }, () => call(url, 'GET', list)));
    return undefined;
  },
};

async function call(url: Server['url'], method: string, path: string, body?: object): Promise<Record<string, string>> {
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 300)}`);
  return method === 'GET' && path === list ? {} : JSON.parse(text);
}

export default largeLists;
