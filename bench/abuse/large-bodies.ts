import { adminKey } from '../http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const atOnce = 8;
const bodyBytes = 760 * 1024;
const maxValues = 49_000;

/** Flow schemas of 760 KiB: as many values as there may be, many names, deep nesting, texts full of escapes. */
const schemas: ReadonlyArray<string> = [
  `[{}${',{}'.repeat(maxValues)}]`,
  `{"k":1${Array.from({ length: 40_000 }, (_, index) => `,"name ${index}":1`).join('')}}`,
  `${'["x",'.repeat(250)}"${'y'.repeat(bodyBytes - 4_000)}"${']'.repeat(250)}`,
  `"${'\\u00e9'.repeat((bodyBytes - 1_000) / 6)}"`,
];

/** Bodies of every shape, eight at once. */
const largeBodies: AbuseScenario = {
  title: '8 control-plane bodies of 760 KiB at once',
  maxFreezeMs: 1_000,
  attack: async ({ url }) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const { projectId } = (await (await fetch(`${url}/v1/me`, { headers })).json()) as { projectId: string };
    for (const schema of schemas) {
      const body = `{"name":"large","flowSchema":${schema}}`;
      const send = () => fetch(`${url}/v1/projects/${projectId}/flows`, { method: 'POST', headers, body });
      const answers = await Promise.all(Array.from({ length: atOnce }, send));
      for (const answer of answers) await answer.arrayBuffer();
    }
    return undefined;
  },
};

export default largeBodies;
