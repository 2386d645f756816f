import { repeat } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const requests = 2_000;

/** Asks whether the service is ready, without a key. */
const healthChecks: AbuseScenario = {
  title: `${requests} requests of /readyz at the same time`,
  maxFreezeMs: 200,
  attack: async ({ url }) => {
    await repeat(requests, requests, async () => {
      const answer = await fetch(`${url}/readyz`);
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`It was answered with ${answer.status}`);
    });
    return undefined;
  },
};

export default healthChecks;
