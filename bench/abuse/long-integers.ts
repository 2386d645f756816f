import { newProjectKey, repeat } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const requests = 40;
const inFlight = 8;
/** Integers of 16 digits, which JSON keeps and which are looked at one by one: as many as a body may hold. */
const integers = Array.from({ length: 42_000 }, (_, index) => `9007199254${String(index * 2).padStart(6, '0')}`);

/** Flows whose schemas hold the most long integers, and then one that JSON does not keep. */
const longIntegers: AbuseScenario = {
  title: `${requests} flows of ${integers.length} long integers`,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  attack: async (service) => {
    const { key, projectId } = await newProjectKey(service);
    const body = `{"name":"Numbers","flowSchema":[${integers.join(',')},9007199254740993]}`;
    await repeat(requests, inFlight, async () => {
      const answer = await fetch(`${service.url}/v1/projects/${projectId}/flows`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
      const { code } = (await answer.json()) as { code: string };
      if (code !== 'number-not-exact') throw new Error(`It was answered with ${answer.status} ${code}`);
    });
    return undefined;
  },
};

export default longIntegers;
