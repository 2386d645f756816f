import { call, type Server } from '#bench/http-processes/processes.ts';
import { repeat } from './project-key.ts';

const flows = 200;
const inFlight = 8;
const schemaBytes = 40 * 1024;
const descriptionLength = 2_000;

/** Makes flows in the first project: a list of 450 KB, and an audit whose pages are full. */
export async function makeManyFlows(service: Server): Promise<void> {
  const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
  const description = 'x'.repeat(descriptionLength);
  const flowSchema = { text: 'x'.repeat(schemaBytes) };
  await repeat(flows, inFlight, (number) =>
    call(service, 'POST', `/v1/projects/${projectId}/flows`, { name: `Flow ${number}`, description, flowSchema }),
  );
}
