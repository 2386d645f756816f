import { call } from '#bench/http-processes/processes.ts';
import { newProjectKey, repeat } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const flows = 12;
const versions = 10;
const schemaBytes = 25 * 1024;
const requests = 200;
const inFlight = 50;

/** Completions of a version's id, each of which may read ten lists of 250 KiB, fifty at the same time. */
const mcpCompletions: AbuseScenario = {
  title: `${requests} completions of MCP, ${inFlight} at the same time`,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
    const flowSchema = { text: 'x'.repeat(schemaBytes) };
    for (let number = 0; number < flows; number += 1) {
      const created = await call(service, 'POST', `/v1/projects/${projectId}/flows`, { name: 'Large', flowSchema });
      const { id } = (await created.json()) as { id: string };
      for (let version = 1; version < versions; version += 1)
        await call(service, 'POST', `/v1/flows/${id}/versions`, { flowSchema });
    }
  },
  attack: async (service) => {
    const { key } = await newProjectKey(service);
    const ref = { type: 'ref/resource', uri: 'switchyard://flow-versions/{versionId}' };
    const params = { ref, argument: { name: 'versionId', value: '' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'completion/complete', params });
    let answered = 0;
    await repeat(requests, inFlight, async () => {
      const answer = await fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body,
      });
      await answer.arrayBuffer();
      if (answer.status === 200) answered += 1;
      else if (answer.status !== 429) throw new Error(`It was answered with ${answer.status}`);
    });
    if (answered === 0) throw new Error('No completion was answered');
    return undefined;
  },
};

export default mcpCompletions;
