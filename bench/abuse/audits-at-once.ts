import { makeManyFlows } from './many-flows.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { repeat } from './project-key.ts';

const requests = 1_000;
const inFlight = 250;

/** Requests of one key for pages of the audit of 2 MiB, whose answers it reads. */
export default besideOtherTenant({
  title: `${inFlight} requests for the audit at the same time`,
  prepare: makeManyFlows,
  attack: async ({ url }, { key }) => {
    let answered = 0;
    await repeat(requests, inFlight, async () => {
      const answer = await fetch(`${url}/v1/audit`, { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      if (answer.status === 200) answered += 1;
      else if (answer.status !== 429) throw new Error(`It was answered with ${answer.status}`);
    });
    if (answered === 0) throw new Error('No request was answered');
  },
});
