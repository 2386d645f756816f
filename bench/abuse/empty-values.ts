import { adminKey } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const bodyBytes = 32 * 1024 * 1024 - 1024;

/** One chat whose body is made of empty objects, as many as fit. */
const emptyValues: AbuseScenario = {
  title: 'a chat body of 32 MiB made of {}',
  maxFreezeMs: 500,
  maxBytesAboveIdle: 150 * 1024 * 1024,
  attack: async ({ url }) => {
    const head = '{"model":"auto","messages":[{"role":"user","content":"Hello"}],"extra":[{}';
    const body = `${head}${',{}'.repeat((bodyBytes - head.length - 2) / 3)}]}`;
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
    return undefined;
  },
};

export default emptyValues;
