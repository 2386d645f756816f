import { call, type Server } from '#bench/http-processes/processes.ts';

/** An ordinary key and its project. */
export interface ProjectKey {
  readonly key: string;
  readonly projectId: string;
}

/** Makes an ordinary project key in the first project. @throws Error if the service refuses it */
export async function newProjectKey(service: Server): Promise<ProjectKey> {
  const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
  const wanted = { name: 'Ordinary', keyType: 'project' };
  const created = await call(service, 'POST', `/v1/projects/${projectId}/keys`, wanted);
  const { key } = (await created.json()) as { key: string };
  return { key, projectId };
}

/** Does something a number of times, a few at the same time. */
export async function repeat(
  times: number,
  inFlight: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < times) {
      const number = next;
      next += 1;
      await work(number);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, run));
}
