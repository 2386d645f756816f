import { makeManyFlows } from './many-flows.ts';
import { makeOtherTenant, type TenantRequests, timesDuring } from './other-tenant.ts';
import { newProjectKey, repeat } from './project-key.ts';
import type { AbuseScenario } from './scenario.ts';

const requests = 1_000;
const inFlight = 250;
const title = `${inFlight} requests for the audit at once`;
let other: TenantRequests | null = null;

/** Requests of one key for pages of the audit of 2 MiB, whose answers it reads. */
const auditsAtOnce: AbuseScenario = {
  title,
  maxFreezeMs: 300,
  maxBytesAboveIdle: 300 * 1024 * 1024,
  prepare: async (service) => {
    await makeManyFlows(service);
    other = await makeOtherTenant(service);
  },
  attack: async (service) => {
    if (other === null) throw new Error('The service is not prepared');
    const { key } = await newProjectKey(service);
    let answered = 0;
    const result = await timesDuring(other, title, () =>
      repeat(requests, inFlight, async () => {
        const answer = await fetch(`${service.url}/v1/audit`, { headers: { 'x-api-key': key } });
        await answer.arrayBuffer();
        if (answer.status === 200) answered += 1;
        else if (answer.status !== 429) throw new Error(`It was answered with ${answer.status}`);
      }),
    );
    if (answered === 0) throw new Error('No request was answered');
    return [result];
  },
};

export default auditsAtOnce;
