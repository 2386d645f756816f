import { adminKey } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const bodyBytes = 32 * 1024 * 1024 - 1024;
const values = 1_900_000;

/** One chat of 32 MiB with nearly the maximum number of values, which the service answers. */
const manyValues: AbuseScenario = {
  title: 'a chat body of 32 MiB with 1.9 million values',
  maxFreezeMs: 500,
  maxBytesAboveIdle: 150 * 1024 * 1024,
  attack: async ({ url }) => {
    const head = `{"model":"auto","messages":[{"role":"user","content":"Hello"}],"extra":[{}${',{}'.repeat(values)}]`;
    const body = `${head},"text":"${'x'.repeat(bodyBytes - head.length - 10)}"}`;
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`It was answered with ${answer.status}`);
    return undefined;
  },
};

export default manyValues;
