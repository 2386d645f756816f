import { call, type Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { repeat } from './project-key.ts';

const schemaValues = 40_000;
const schemaBytes = 650 * 1024;
const versions = 10;
const comparisons = 1_000;
const comparisonsAtOnce = 30;
const lists = 200;
const listsAtOnce = 10;
let versionIds: ReadonlyArray<string> = [];
let list = '';

/** Comparisons of large versions and lists of them in pages of 2 MiB, while another tenant reads as usual. */
export default besideOtherTenant({
  title: `${comparisonsAtOnce} comparisons and ${listsAtOnce} large lists of one project at the same time`,
  prepare: makeLargeVersions,
  attack: async ({ url }, { key }) => {
    const statuses = new Map<number, number>();
    const ask = async (path: string) => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    };
    const compare = (number: number) => {
      const [one, another] = [number, number + 1].map((at) => versionIds[at % versionIds.length]);
      return ask(`/v1/flow-versions/${one}/diff/${another}`);
    };
    await Promise.all([repeat(comparisons, comparisonsAtOnce, compare), repeat(lists, listsAtOnce, () => ask(list))]);
    if (!statuses.has(200) || [...statuses.keys()].some((status) => status !== 200 && status !== 429))
      throw new Error(`It was answered with ${JSON.stringify([...statuses])}`);
  },
});

async function makeLargeVersions(service: Server): Promise<void> {
  const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
  const schemaOf = (version: number) =>
    Array.from({ length: schemaValues }, (_, at) =>
      `${version} ${at}`.padEnd(Math.floor(schemaBytes / schemaValues), 'x'),
    );
  const flow = { name: 'Large', flowSchema: schemaOf(0) };
  const made = await call(service, 'POST', `/v1/projects/${projectId}/flows`, flow);
  const { id } = (await made.json()) as { id: string };
  list = `/v1/flows/${id}/versions`;
  const ids: string[] = [];
  for (let version = 1; version < versions; version += 1) {
    const added = await call(service, 'POST', list, { flowSchema: schemaOf(version) });
    ids.push(((await added.json()) as { id: string }).id);
  }
  versionIds = ids;
}
